(() => {
"use strict";
const words = document.body.dataset;
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const make = (name, props) => Object.assign(document.createElement(name), props);

const value = cell => {
  if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
  return null;
};

const sorter = table => {
  const body = table.tBodies[0], original = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = make("button", {type: "button"});
    button.append(...head.childNodes);
    button.setAttribute("aria-label", words.sort + " " + button.textContent);
    head.append(button);
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const next = before === "ascending" ? "descending" : before === "descending" ? null : "ascending";
      heads.forEach(h => h.removeAttribute("aria-sort"));
      let rows = original;
      if (next) {
        head.setAttribute("aria-sort", next);
        const keys = original.map((row, i) => [value(row.cells[column]), row.cells[column].textContent, i, row]);
        const numeric = keys.some(k => k[0] !== null);
        const sign = next === "ascending" ? 1 : -1;
        keys.sort((a, b) => {
          if (numeric) {
            if (a[0] === null || b[0] === null) return (a[0] === null) - (b[0] === null) || a[2] - b[2];
            return sign * (a[0] - b[0]) || a[2] - b[2];
          }
          return sign * a[1].localeCompare(b[1], document.documentElement.lang, {numeric: true}) || a[2] - b[2];
        });
        rows = keys.map(k => k[3]);
      }
      body.append(...rows);
    });
  });
};

const filter = box => {
  const rows = [...box.querySelector("tbody").rows];
  const text = rows.map(row => [...row.cells].map(c => c.textContent).join(" ").toLowerCase());
  const input = make("input", {type: "search", placeholder: words.filter + ": " + words.hint});
  input.setAttribute("aria-label", words.filter);
  const count = make("output");
  const show = () => {
    const terms = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !terms.every(term => text[i].includes(term));
      if (!row.hidden) shown++;
    });
    count.textContent = shown ? words.rows.replace("{k}", shown).replace("{n}", rows.length) : words.none;
  };
  input.addEventListener("input", show);
  const line = make("p", {className: "filter"});
  line.append(input, count);
  box.prepend(line);
  show();
};

const dialog = document.getElementById("drill"), place = dialog.querySelector("div"), title = dialog.querySelector("h2");
let home = null, from = null;
const putBack = () => {
  if (home) {
    all(".hit,.other", place).forEach(e => e.classList.remove("hit", "other"));
    home.append(place.firstChild);
    home = null;
  }
};
const open = (id, metric, side) => {
  const content = document.getElementById(id);
  if (!content) return false;
  putBack();
  home = content.parentNode;
  place.append(content);
  title.textContent = content.dataset.title;
  const column = 4 + metric;
  all("tr:not(.more)", content).forEach(row => {
    if (row.cells[column]) row.cells[column].classList.add("hit");
    if (side === 0 && row.classList.contains("sb") || side === 1 && row.classList.contains("sa")) row.classList.add("other");
  });
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  return true;
};
document.addEventListener("click", event => {
  const link = event.target.closest && event.target.closest("a[data-b]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    const [metric, side] = link.dataset.b.split(",").map(Number);
    from = link;
    if (open(link.hash.slice(1), metric, side)) event.preventDefault();
  }
  if (event.target === dialog) dialog.close();
  const other = event.target.closest && event.target.closest("a.lang");
  if (other) other.hash = location.hash;
});
dialog.addEventListener("close", () => {
  putBack();
  if (from) from.focus({preventScroll: true});
});

all(".tbl table").forEach(sorter);
all(".tbl[data-filter]").forEach(filter);

const links = new Map(all("nav a").map(a => [a.hash.slice(1), a]));
const seen = new IntersectionObserver(entries => entries.forEach(entry => {
  if (!entry.isIntersecting) return;
  const link = links.get(entry.target.id);
  if (!link) return;
  all("nav a.here").forEach(a => a.classList.remove("here"));
  link.classList.add("here");
}), {rootMargin: "0px 0px -80% 0px"});
all("main section[id],main h3[id]").forEach(s => seen.observe(s));
document.documentElement.classList.add("js");
})();
