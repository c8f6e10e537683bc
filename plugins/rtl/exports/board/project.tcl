# A Vivado project of the array with its AXI4 masters:
#     vivado -mode batch -source project.tcl -tclargs PART
# Not tested: Ithaca is tested without Vivado. Written by Ithaca; licence 0BSD, use it in any product.
set here [file dirname [file normalize [info script]]]
set root [file dirname $here]
set part [expr {[llength $argv] > 0 ? [lindex $argv 0] : "xcu250-figd2104-2L-e"}]

create_project -force array_axi4 $here/project -part $part
add_files [glob $root/array*.sv $root/library/*.sv $root/axi4/*.sv]
set_property top array_axi4 [current_fileset]
# the bench, with its vectors
add_files -fileset sim_1 [glob $root/bench.sv $root/bench/*.sv $root/dram/*.sv]
set_property top bench [get_filesets sim_1]
update_compile_order -fileset sources_1
update_compile_order -fileset sim_1
puts "copy $root/vectors to where the simulation runs"
