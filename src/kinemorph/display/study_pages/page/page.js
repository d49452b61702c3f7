// Sorts the table of items by a column when the name of the column is clicked; once more turns the order around.
// Cells have the value to sort by in `data-value` where it is a number. Cells without a value come last in both orders.

const body = document.querySelector("table.items tbody");
const heads = [...document.querySelectorAll("table.items thead th")];

function valueOf(row, column) {
  const cell = row.cells[column];
  if (cell.textContent === "") return null;
  return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent;
}

function compared(one, other) {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other), "en", { numeric: true });
}

function sortBy(column) {
  const rising = heads[column].getAttribute("aria-sort") !== "ascending";
  const sign = rising ? 1 : -1;
  const rows = [...body.rows].map((row) => [valueOf(row, column), row]);
  rows.sort(([one], [other]) => {
    if (one === null || other === null) return (one === null) - (other === null);
    return sign * compared(one, other);
  });
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", rising ? "ascending" : "descending");
  body.append(...rows.map(([, row]) => row));
}

heads.forEach((head, column) => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = head.textContent;
  button.addEventListener("click", () => sortBy(column));
  head.replaceChildren(button);
});
