# A kernel for Vitis of the array with its AXI4 masters, array_axi4.xo:
#     vivado -mode batch -source package.tcl -tclargs PART
#     v++ --link --platform PLATFORM array_axi4.xo -o array_axi4.xclbin
# Not tested: Ithaca is tested without Vivado and Vitis. Written by Ithaca; licence 0BSD, use it in any
# product.
set here [file dirname [file normalize [info script]]]
set root [file dirname $here]
set part [expr {[llength $argv] > 0 ? [lindex $argv 0] : "xcu250-figd2104-2L-e"}]

create_project -force kernel $here/kernel -part $part
add_files [glob $root/array*.sv $root/library/*.sv $root/axi4/*.sv]
set_property top array_axi4 [current_fileset]
update_compile_order -fileset sources_1
ipx::package_project -root_dir $here/ip -vendor ithaca -library kernel -taxonomy /KernelIP \
    -import_files -set_current true
set core [ipx::current_core]
set_property sdx_kernel true $core
set_property sdx_kernel_type rtl $core
foreach bus [ipx::get_bus_interfaces -of_objects $core] {
    set name [get_property name $bus]
    if {[string match m_axi_* $name] || $name eq "s_axi_control"} {
        ipx::associate_bus_interfaces -busif $name -clock ap_clk $core
    }
}
ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::check_integrity -kernel $core
ipx::save_core $core
close_project
file delete -force $here/array_axi4.xo
package_xo -xo_path $here/array_axi4.xo -kernel_name array_axi4 -ip_directory $here/ip \
    -kernel_xml $here/kernel.xml
