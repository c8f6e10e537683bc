"""A result as one self-contained page (HTML): the answer, its proof, where the cycles go, the array
drawn.

`ithaca.exports.report.page.report_page` puts it together of sections. A section is a list of blocks
(`blocks`): sentences, tables, figures. Charts are specifications that the page's scripts draw
(`ithaca.exports.charts.page`); the array alone is drawn here (`array_drawing`). The page is a
template (`page.html`). It loads nothing, runs no other script, and says so in a content security
policy.
"""
