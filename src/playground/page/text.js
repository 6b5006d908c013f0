// Text and entities to DOM nodes. Offsets count UTF-16 units, as JavaScript strings do.
// Everything goes through textContent: a message can never become markup.

export function make(tag, name, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;
  return node;
}

const ICONS = {
  chevron: "M6 9l6 6 6-6",
  file: "M7 3h7l5 5v13H7zM14 3v5h5",
  bell: "M6 17h12l-1.5-2.5V10a4.5 4.5 0 0 0-9 0v4.5zM10.5 20h3M4 4l16 16",
  tick: "M3 13l4 4L15 8M11 16l1 1 9-9",
};

export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

const SAFE = /^(https?:|tg:|mailto:)/i;

// `hooks`: open (a Set of quotes the reader opened), key, onCommand, strings.
export function render(text, entities, hooks) {
  const sorted = [...entities].sort((a, b) => a.offset - b.offset || b.length - a.length);
  const root = document.createDocumentFragment();
  fill(root, text, 0, text.length, sorted, hooks);
  return root;
}

function fill(parent, text, from, to, entities, hooks) {
  let at = from;
  for (let i = 0; i < entities.length; i++) {
    const entity = entities[i];
    const end = Math.min(entity.offset + entity.length, to);
    if (entity.offset < at || entity.offset >= to) continue;
    words(parent, text, at, entity.offset);
    const inner = entities.slice(i + 1).filter((e) => e.offset < end && e.offset >= entity.offset);
    const [outer, place] = shell(entity, text.slice(entity.offset, end), hooks);
    fill(place, text, entity.offset, end, inner, hooks);
    parent.append(outer);
    at = end;
  }
  words(parent, text, at, to);
}

// A block already ends its line; the line break behind it would show as an empty line.
function words(parent, text, from, to) {
  const last = parent.lastChild;
  const block = last instanceof HTMLElement && /^(PRE|BLOCKQUOTE)$/.test(last.tagName);
  const start = block && text[from] === "\n" ? from + 1 : from;
  if (start < to) parent.append(text.slice(start, to));
}

function shell(entity, words, hooks) {
  const simple = { bold: "b", italic: "i", underline: "u", strikethrough: "s", code: "code" }[entity.type];
  if (simple) return twice(make(simple));
  switch (entity.type) {
    case "pre": return block(entity, words, hooks);
    case "text_link": return twice(link(entity.url));
    case "url": return twice(link(words));
    case "email": return twice(link("mailto:" + words));
    case "spoiler": {
      const node = make("span", "spoiler");
      node.addEventListener("click", () => node.classList.add("seen"));
      return twice(node);
    }
    case "bot_command": {
      const node = make("span", "command");
      node.addEventListener("click", () => hooks.onCommand(words));
      return twice(node);
    }
    case "blockquote":
    case "expandable_blockquote": return quote(entity, words, hooks);
    case "mention":
    case "hashtag": return twice(make("span", "mention"));
    default: return twice(make("span"));
  }
}

const twice = (node) => [node, node];

function link(url) {
  const node = make("a");
  if (SAFE.test(url)) {
    node.href = url;
    node.target = "_blank";
    node.rel = "noopener noreferrer";
  }
  return node;
}

function block(entity, words, hooks) {
  const pre = make("pre");
  const code = make("code");
  const head = make("header");
  head.append(make("span", "", entity.language || ""));
  const copy = make("button", "", hooks.strings.copy);
  copy.type = "button";
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(words);
    copy.textContent = hooks.strings.copied;
  });
  head.append(copy);
  pre.append(head, code);
  return [pre, code];
}

function quote(entity, words, hooks) {
  const node = make("blockquote");
  const body = make("div");
  node.append(body);
  if (entity.type === "expandable_blockquote" && (words.length > 120 || words.split("\n").length > 3)) {
    const key = `${hooks.key}/${entity.offset === 0 ? 0 : hooks.count++}`;
    node.classList.add("long");
    const toggle = make("button");
    toggle.type = "button";
    toggle.append(icon("chevron"));
    const show = () => {
      const open = hooks.open.has(key);
      node.classList.toggle("open", open);
      toggle.ariaExpanded = String(open);
      toggle.ariaLabel = open ? hooks.strings.hide : hooks.strings.show;
    };
    node.addEventListener("click", (event) => {
      if (event.target.closest("a, .command, pre button")) return;
      if (!hooks.open.delete(key)) hooks.open.add(key);
      show();
    });
    node.append(toggle);
    show();
  }
  return [node, body];
}
