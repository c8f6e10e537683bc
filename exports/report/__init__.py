"""A result as one self-contained page (HTML): the answer, its proof, where the cycles go, the array drawn.

`ithaca.exports.report.page.report_page` puts it together of sections, one file each. A section is a list of blocks
(`blocks`): sentences, tables, figures. Charts are inline SVG (`svg`), the page itself a template (`page.html`); it
loads nothing, runs no script, and says so in a content security policy.
"""
