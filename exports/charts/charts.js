"use strict";
// Draw each chart when its place is seen; arrow keys go from mark to mark, Tab to the names of the
// legend, which Enter or the space bar chooses.
for (const place of document.querySelectorAll(".plot[id]")) {
  const text = document.getElementById(`${place.id}-chart`).textContent;
  const note = document.createElement("p");
  note.className = "tip";
  note.setAttribute("role", "status");
  place.after(note);
  const draw = () => vegaEmbed(place, JSON.parse(text), {
    renderer: "svg", actions: false, ast: true, defaultStyle: false, tooltip: { disableDefaultStyle: true },
  }).then(() => {
    if (!/"(bind": ?"legend"|interactive": ?true)/.test(text)) return;
    for (const name of place.querySelectorAll(".role-legend-label text")) {
      name.setAttribute("tabindex", "0");
      name.setAttribute("role", "button");
    }
  });
  const folded = place.closest("details:not([open])");
  if (folded) folded.addEventListener("toggle", draw, { once: true });
  else draw();
  let chosen = null;
  place.addEventListener("keydown", (event) => {
    const name = event.target.closest(".role-legend-label text");
    if (name && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      name.dispatchEvent(new MouseEvent("click", { bubbles: true, view: window, shiftKey: event.shiftKey }));
      return;
    }
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const marks = step ? [...place.querySelectorAll(".role-mark [aria-label]")].filter((mark) => !/^(line|text|rule) mark$/.test(mark.getAttribute("aria-roledescription"))) : [];
    if (!marks.length) return;
    event.preventDefault();
    const at = marks.indexOf(chosen);
    if (chosen) chosen.classList.remove("chosen");
    chosen = marks[at < 0 ? (step > 0 ? 0 : marks.length - 1) : (at + step + marks.length) % marks.length];
    chosen.classList.add("chosen");
    note.textContent = chosen.getAttribute("aria-label");
  });
}
