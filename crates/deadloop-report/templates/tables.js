// Tables that sort by a click, or a key, on a column's head, their folded rows with them; long ones are searched too.
const sortKey = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.s === undefined ? cell.firstChild?.textContent ?? "" : Number(cell.dataset.s);
};
const sortOrder = (a, b) => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b));
};
// What is n/a comes last, up and down.
const undefinedLast = (a, b) => (typeof a === typeof b ? 0 : typeof a === "number" ? -1 : 1);
// The table bodies that hold the rows of one table: the shown one, and the folded one.
const bodiesOf = (table) => {
  const rows = table.closest(".rows");
  return rows ? [...rows.querySelectorAll("tbody")] : [table.tBodies[0]];
};
// Some rows stay first, whatever the order.
const pinned = new Set();
for (const rows of document.querySelectorAll(".rows[data-pinned]")) {
  [...rows.querySelector("tbody").rows].slice(0, Number(rows.dataset.pinned)).forEach((row) => pinned.add(row));
}
for (const head of document.querySelectorAll("thead th:not(.still)")) {
  head.tabIndex = 0;
  head.title = "sort";
  const sort = () => {
    const bodies = bodiesOf(head.closest("table"));
    const column = head.cellIndex;
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const { parentNode: { tHead } } of bodies) {
      for (const other of tHead.rows[0].cells) other.removeAttribute("aria-sort");
      tHead.rows[0].cells[column].setAttribute("aria-sort", up ? "ascending" : "descending");
    }
    for (const body of bodies) for (const how of body.querySelectorAll("tr.how")) how.remove();
    const shown = bodies[0].rows.length;
    const all = bodies.flatMap((body) => [...body.rows]);
    const rows = all.filter((row) => !pinned.has(row)).map((row, at) => [sortKey(row, column), at, row]);
    rows.sort((a, b) => undefinedLast(a[0], b[0]) || (up ? sortOrder(a[0], b[0]) : sortOrder(b[0], a[0])) || a[1] - b[1]);
    const sorted = [...all.filter((row) => pinned.has(row)), ...rows.map((row) => row[2])];
    bodies[0].append(...sorted.slice(0, shown));
    bodies[1]?.append(...sorted.slice(shown));
  };
  head.addEventListener("click", sort);
  head.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); } });
}
for (const fold of document.querySelectorAll(".rows > details")) {
  const search = document.createElement("input");
  const table = fold.querySelector("table"), name = table.tHead.rows[0].cells[0].textContent;
  search.type = "search";
  search.placeholder = `find a ${name}`;
  search.setAttribute("aria-label", `show only rows whose ${name} has this text`);
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    if (wanted) fold.open = true;
    for (const row of bodiesOf(table).flatMap((body) => [...body.rows])) {
      const cell = row.cells[0];
      row.hidden = !pinned.has(row) && !cell.textContent.toLowerCase().includes(wanted);
    }
  });
  fold.parentNode.prepend(search);
}
