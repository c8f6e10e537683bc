"use strict";
const figure = document.querySelector(".chart"), said = document.querySelector(".tip");
const marks = [...figure.querySelectorAll("path > title")].map((title) => {
  const mark = title.parentElement;
  mark.tip = title.textContent;
  title.remove(); // the browser's own would cover it
  return mark;
});
let chosen = null;
function choose(mark) {
  if (chosen) chosen.classList.remove("chosen");
  chosen = mark;
  if (mark) mark.classList.add("chosen");
  said.textContent = mark ? mark.tip : "";
}
for (const kind of ["pointerover", "pointerdown"])
  figure.addEventListener(kind, (event) => { if (event.target.tip) choose(event.target); });
figure.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const seen = step ? marks.filter((mark) => mark.getClientRects().length && getComputedStyle(mark).visibility !== "hidden") : [];
  if (!seen.length) return;
  event.preventDefault();
  const at = seen.indexOf(chosen);
  choose(seen[at < 0 ? (step > 0 ? 0 : seen.length - 1) : (at + step + seen.length) % seen.length]);
});
const cells = JSON.parse((document.getElementById("cells") || { textContent: "null" }).textContent);
for (const ground of cells ? figure.querySelectorAll(".ground") : [])
  ground.ownerSVGElement.addEventListener("pointermove", (event) => {
    const box = ground.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * cells.x.length);
    const row = Math.floor(((box.bottom - event.clientY) / box.height) * cells.y.length);
    if (!(column in cells.x && row in cells.y)) return;
    const value = cells.values[row][column];
    said.textContent = `${cells.names[0]} ${cells.x[column]}, ${cells.names[1]} ${cells.y[row]}: ${value === null ? "nothing within the limits" : value}`;
  });
const views = [...figure.querySelectorAll("svg")].map((svg) => ({ svg, whole: svg.getAttribute("viewBox").split(" ").map(Number) }));
function look(view, x, y, width, height) {
  const [, , W, H] = view.whole;
  view.now = [Math.min(Math.max(x, 0), W - width), Math.min(Math.max(y, 0), H - height), width, height];
  view.svg.setAttribute("viewBox", view.now.join(" "));
}
for (const view of views) {
  look(view, ...view.whole);
  let from = null;
  view.svg.addEventListener("pointerdown", (event) => { from = [event.clientX, event.clientY, ...view.now]; });
  view.svg.addEventListener("pointermove", (event) => {
    if (!from || !event.buttons || view.now[2] === view.whole[2]) return;
    const scale = view.now[2] / view.svg.clientWidth;
    look(view, from[2] - (event.clientX - from[0]) * scale, from[3] - (event.clientY - from[1]) * scale, view.now[2], view.now[3]);
  });
}
for (const button of document.querySelectorAll("[data-zoom]"))
  button.addEventListener("click", () => {
    for (const view of views) {
      const factor = Number(button.dataset.zoom), [x, y, width, height] = view.now;
      if (factor) look(view, x + (width - width / factor) / 2, y + (height - height / factor) / 2, width / factor, height / factor);
      else look(view, ...view.whole);
      figure.classList.toggle("enlarged", factor > 0);
    }
  });
for (const box of document.querySelectorAll("[data-series]"))
  box.addEventListener("change", () => {
    for (const part of figure.querySelectorAll(`.series-${box.dataset.series}`)) part.style.visibility = box.checked ? "" : "hidden";
  });
document.querySelector(".tools").hidden = false;
