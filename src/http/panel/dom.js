// Small helpers. What models and people wrote enters the page as text, never as markup.
export const by = (id) => document.getElementById(id);

export function el(tag, { cls, text, dir, ...attributes } = {}, ...children) {
  const node = document.createElement(tag);
  if (cls) node.className = cls;
  if (text !== undefined) node.textContent = text;
  if (dir) node.dir = dir;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter(Boolean));
  return node;
}

// What the reader unfolded stays unfolded when the page is drawn anew.
const unfolded = new Set();

export function fold(key, summary, ...children) {
  const node = el("details", {}, el("summary", {}, summary), ...children);
  node.open = unfolded.has(key);
  node.addEventListener("toggle", () => (node.open ? unfolded.add(key) : unfolded.delete(key)));
  return node;
}

export const note = (title, body) =>
  el("div", { cls: "note" }, el("strong", { text: title }), body && el("p", { text: body }));

export function meter(done, total, label) {
  const bar = el("progress", { max: Math.max(total, 1), value: done, "aria-label": label });
  return el("div", { cls: "meter" }, bar, el("span", { text: label }));
}
