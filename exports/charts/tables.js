"use strict";
// Columns sort by a click on their names; tables of many rows have a field that filters them.
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0], rows = [...body.rows];
  if (rows.length < 3 || rows.some((row) => !row.cells[0].textContent.trim())) continue; // or in groups
  const worth = (row, at) => {
    const text = row.cells[at].textContent.trim(), number = parseFloat(text.replace(/,/g, "").replace("−", "-"));
    return Number.isNaN(number) ? text : number;
  };
  for (const head of table.tHead.querySelectorAll("th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending", at = head.cellIndex;
      for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const known = rows.filter((row) => !["", "–"].includes(row.cells[at].textContent.trim()));
      known.sort((one, other) => {
        const [a, b] = [worth(one, at), worth(other, at)];
        const order = typeof a === typeof b ? (a > b) - (a < b) : typeof a === "number" ? -1 : 1;
        return down ? -order : order;
      });
      body.append(...known, ...rows.filter((row) => !known.includes(row))); // what is absent comes last
    });
  }
  if (rows.length < 12) continue;
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = `filter ${rows.length} rows`;
  field.setAttribute("aria-label", `Filter: ${table.caption ? table.caption.textContent : "rows"}`);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  });
  table.before(field);
}
