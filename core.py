"""The core's own things, in the form of a plug-in: where everything that is asked for by name is.

The package joins its layers here and nowhere else; what else is installed says the same of itself
(see `ithaca.files.plugin`).
"""

from __future__ import annotations

from ithaca.files.plugin import Plugin

_SYSTOLIC = "ithaca.formulations.systolic"

PLUGIN = Plugin(
    {
        # -- families of designs -------------------------------------------------------
        "families": {
            "systolic": f"{_SYSTOLIC}.family:SYSTOLIC",
        },
        "question kinds": {"systolic": f"{_SYSTOLIC}.options:KIND"},
        "questions": {"systolic": f"{_SYSTOLIC}.question:ArrayQuestion"},
        # -- what later layers do for a family -----------------------------------------
        "network modes": {
            "per-layer": "ithaca.studies.network.modes:PER_LAYER",
            "shared-dataflow": "ithaca.studies.network.modes:SHARED_DATAFLOW",
        },
        "result views": {"systolic": "ithaca.results.families.views.systolic.result:view"},
        "network views": {"systolic": "ithaca.results.families.views.systolic.network:view"},
        "tables": {"systolic": "ithaca.results.families.tables.systolic"},
        "network documents": {
            "systolic": "ithaca.results.families.networks.systolic",
        },
        "report sections": {"systolic": "ithaca.exports.report.families.systolic"},
        "points": {"systolic": "ithaca.commands.families.systolic.points"},
        # -- exports -------------------------------------------------------------------
        "tools": {
            "autosa": "ithaca.exports.autosa.folder:AUTOSA",
            "scalesim": "ithaca.exports.scalesim.folder:SCALESIM",
        },
        # -- engines -------------------------------------------------------------------
        "engines": {
            "auto": "ithaca.solver.auto:solve_auto",
            "exact": "ithaca.solver.exact.engine:solve_exact",
            "cpsat": "ithaca.solver.cpsat.engine:solve_cpsat",
            "gp": "ithaca.solver.gp.engine:solve_gp",
            "nlp": "ithaca.solver.nlp.engine:solve_nlp",
            "staged": "ithaca.solver.staged.engine:solve_staged",
            "evolve": "ithaca.refine.evolution.engine:solve_evolve",
        },
        # -- answers -------------------------------------------------------------------
        "answers": {
            "cell": "ithaca.exports.report.cell:answer_cell",
            "frame": "ithaca.results.datasets:as_table",
            "drawing": "ithaca.exports.charts.files:save_plot",
            "Result.view": "ithaca.results.result_view:result_view",
            "Result.document": "ithaca.results.files:result_document",
            "Result.dataset": "ithaca.results.datasets:result_dataset",
            "NetworkResult.view": "ithaca.results.network_view:network_view",
            "NetworkResult.document": "ithaca.results.network:network_document",
            "NetworkResult.dataset": "ithaca.results.datasets:network_dataset",
            "NetworkResult.failure": "ithaca.results.network_explanation:network_failure",
            "NetworkResult.table": "ithaca.results.table:network_table",
            "NetworkResult.chart": "ithaca.exports.charts.network:network_chart",
            "Front.view": "ithaca.results.study_explanation:front_view",
            "Front.document": "ithaca.results.studies:front_document",
            "Front.dataset": "ithaca.results.datasets:front_dataset",
            "Front.chart": "ithaca.exports.charts.of_studies:front_chart",
            "Front.statements": "ithaca.results.study_explanation:front_statements",
            "Study.view": "ithaca.results.study_explanation:study_view",
            "Study.document": "ithaca.results.studies:study_document",
            "Study.dataset": "ithaca.results.datasets:study_dataset",
            "Study.chart": "ithaca.exports.charts.of_studies:study_chart",
            "Study.statements": "ithaca.results.study_explanation:study_statements",
        },
        "readers": {
            "None": "ithaca.results.files:read_result",
            "network": "ithaca.results.network:read_network_result",
            "pareto": "ithaca.results.study_files:read_front",
            "whatif": "ithaca.results.study_files:read_study",
        },
        # -- commands ------------------------------------------------------------------
        "commands": {
            "solve": "ithaca.commands.solve:solve",
            "network": "ithaca.commands.network:network",
            "whatif": "ithaca.commands.whatif:whatif",
            "pareto": "ithaca.commands.pareto:pareto",
            "grid": "ithaca.commands.grid:grid",
            "evaluate": "ithaca.commands.evaluate:evaluate",
            "verify": "ithaca.commands.verify:verify",
            "explain": "ithaca.commands.explain:explain",
            "report": "ithaca.commands.report:report",
            "export": "ithaca.commands.export:export",
            "seed": "ithaca.commands.seed:seed",
            "refine": "ithaca.commands.refine:refine",
            "list": "ithaca.commands.listing:listing",
        },
        "schemas": {
            "workload": "ithaca.workloads.kernel_files:KernelFile",
            "problem": "ithaca.commands.schemas:problem",
            "network": "ithaca.commands.schemas:network",
            "platform": "ithaca.formulations.platform_files:PlatformFile",
            "whatif": "ithaca.results.studies:StudyDocument",
            "pareto": "ithaca.results.studies:FrontDocument",
            "points": "ithaca.commands.schemas:points",
            "explanation": "ithaca.commands.schemas:explanation",
            "designs": "ithaca.commands.schemas:designs",
        },
        "lists": {"designs": "ithaca.commands.families.systolic.lists:print_list"},
        "names": {
            "Certificate": "ithaca.solver.certificate:Certificate",
            "DisagreementError": "ithaca.files.errors:DisagreementError",
            "Front": "ithaca.studies.front:Front",
            "Grid": "ithaca.commands.api.grids:Grid",
            "InputError": "ithaca.files.errors:InputError",
            "LoopNest": "ithaca.workloads.nest:LoopNest",
            "Network": "ithaca.workloads.networks.network:Network",
            "NetworkResult": "ithaca.studies.network.result:NetworkResult",
            "NothingFoundError": "ithaca.files.errors:NothingFoundError",
            "Platform": "ithaca.formulations.platform:Platform",
            "Points": "ithaca.commands.families.systolic.points:Points",
            "Result": "ithaca.solver.result:Result",
            "SearchProgress": "ithaca.commands.api.live_line:SearchProgress",
            "Solution": "ithaca.solver.solution:Solution",
            "Status": "ithaca.solver.certificate:Status",
            "Study": "ithaca.studies.whatif:Study",
            "Verification": "ithaca.files.answer:Verification",
            "Words": "ithaca.files.answer:Words",
            "evaluate": "ithaca.commands.api.evaluating:evaluate",
            "explain": "ithaca.commands.api.explaining:explain",
            "export": "ithaca.commands.api.exporting:export",
            "grid": "ithaca.commands.api.grids:grid",
            "list_designs": "ithaca.commands.families.systolic.lists:list_designs",
            "list_networks": "ithaca.commands.api.lists:list_networks",
            "list_platforms": "ithaca.commands.api.lists:list_platforms",
            "list_workloads": "ithaca.commands.api.lists:list_workloads",
            "load": "ithaca.commands.api.loading:load",
            "nest": "ithaca.commands.api.nests:nest",
            "network": "ithaca.commands.api.networks:network",
            "pareto": "ithaca.commands.api.fronts:pareto",
            "refine": "ithaca.commands.api.refining:refine",
            "report": "ithaca.commands.api.reporting:report",
            "seed": "ithaca.commands.api.seeding:seed",
            "solve": "ithaca.commands.api.solving:solve",
            "solve_pyomo": "ithaca.solver.cpsat.from_pyomo:solve_pyomo",
            "verify": "ithaca.commands.api.verifying:verify",
            "whatif": "ithaca.commands.api.studies:whatif",
        },
    },
    {
        "solve": "Find the best configuration of a workload, and prove it.",
        "network": "Solve every layer of a network, and prove the total.",
        "whatif": "Prove the best over a grid of sizes, limits, platforms.",
        "pareto": "Compute the Pareto front of several objectives, proven.",
        "grid": "Evaluate the cost model exactly around a result.",
        "evaluate": "Compute all metrics of given configurations afresh.",
        "verify": "Check a result anew: its values and its proofs.",
        "explain": "Explain what limits a result, and what to change first.",
        "report": "Report a result as one self-contained page.",
        "export": "Export the best configuration of a result for tools.",
        "seed": "Write a start population for another search tool.",
        "refine": "Improve the configurations of a result by evolution.",
        "list": "List workloads, networks, platforms, designs and more.",
    },
)
