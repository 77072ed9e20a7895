// Tables that sort by a click, or a key, on a column's head.
const sortKey = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.s === undefined ? cell.firstChild?.textContent ?? "" : Number(cell.dataset.s);
};
const sortOrder = (a, b) => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number") return -1;
  if (typeof b === "number") return 1;
  return a.localeCompare(b);
};
for (const head of document.querySelectorAll("thead th:not(.still)")) {
  head.tabIndex = 0;
  head.title = "sort";
  const sort = () => {
    const body = head.closest("table").tBodies[0];
    const column = head.cellIndex;
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...body.rows].map((row, at) => [sortKey(row, column), at, row]);
    rows.sort((a, b) => (up ? sortOrder(a[0], b[0]) : sortOrder(b[0], a[0])) || a[1] - b[1]);
    body.append(...rows.map((row) => row[2]));
  };
  head.addEventListener("click", sort);
  head.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); } });
}
