// One message as a bubble with its keyboard.

import { icon, make, render } from "./text.js";

const clock = (seconds, language) =>
  new Date(seconds * 1000).toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });

export const tone = (id, bot) => (bot ? "tone4" : `tone${1 + (Math.abs(id) % 3)}`);
export const initials = (name) => [...name.trim()].slice(0, 1).join("").toUpperCase();

export function face(id, name, bot) {
  return make("span", `face ${tone(id, bot)}`, initials(name));
}

function size(bytes, language) {
  const kilo = bytes / 1024;
  const format = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  return kilo < 1 ? `${bytes} B` : kilo < 1024 ? `${format.format(kilo)} KB` : `${format.format(kilo / 1024)} MB`;
}

// `context`: me, strings, language, open, group, previous, next, find, onReply, onTap, onCommand, onJump, waiting.
export function bubble(post, context) {
  const { strings } = context;
  if (post.service) return [make("div", "service", post.service)];
  const own = post.from === context.me;
  const node = make("article", "bubble");
  node.dataset.id = post.id;
  node.classList.toggle("own", own);
  node.classList.toggle("first", !context.previous || context.previous.from !== post.from);
  node.classList.toggle("tail", !context.next || context.next.from !== post.from);
  if (post.entities.some((entity) => /blockquote|pre/.test(entity.type)) || post.keyboard.length) node.classList.add("wide");
  if (context.group && !own && node.classList.contains("first")) {
    const author = make("div", `author ${tone(post.from, post.from_bot)}`, post.author);
    if (post.from_bot) author.append(make("em", "", strings.bot));
    node.append(author);
  }
  if (post.reply_to) node.append(quoted(post, context));
  if (post.file) node.append(attachment(post, context));
  if (post.text) {
    const words = make("div", "words");
    words.append(render(post.text, post.entities, {
      open: context.open, key: `${post.chat}/${post.id}`, count: 1, strings, onCommand: context.onCommand,
    }));
    words.append(meta(post, own, context));
    node.append(words);
  } else {
    node.append(meta(post, own, context));
  }
  if (post.reactions.length) {
    const reactions = make("div", "reactions");
    post.reactions.forEach((emoji) => reactions.append(make("span", "", emoji)));
    node.append(reactions);
  }
  node.addEventListener("dblclick", () => context.onReply(post));
  hold(node, () => context.onReply(post));
  return post.keyboard.length ? [node, keyboard(post, context)] : [node];
}

function meta(post, own, { strings, language }) {
  const node = make("span", "meta");
  if (post.silent && !own) node.append(icon("bell"));
  if (post.edited) node.append(make("span", "", strings.edited));
  node.append(make("span", "", clock(post.date, language)));
  if (own) node.append(icon("tick"));
  return node;
}

function quoted(post, context) {
  const target = context.find(post.reply_to);
  const node = make("button", "quote");
  node.type = "button";
  node.append(make("strong", "", target?.author ?? ""), make("span", "", target ? target.text.slice(0, 120) : context.strings.deleted));
  node.addEventListener("click", () => context.onJump(post.reply_to));
  return node;
}

function attachment(post, { strings, language }) {
  const node = make("a", "file");
  node.href = `/page/file/${encodeURIComponent(post.file.id)}`;
  node.download = post.file.name;
  const disc = make("i");
  disc.append(icon("file"));
  const words = make("div");
  words.append(make("b", "", post.file.name || strings.file), make("small", "", size(post.file.size, language)));
  node.append(disc, words);
  return node;
}

function keyboard(post, context) {
  const keys = make("div", "keys");
  for (const row of post.keyboard) {
    const line = make("div");
    for (const button of row) {
      const node = make("button", button.style ?? "", button.text);
      node.type = "button";
      node.dir = "auto";
      if (context.waiting.has(`${post.chat}/${post.id}/${button.data}`)) node.classList.add("busy");
      node.addEventListener("click", () => {
        if (button.url) window.open(button.url, "_blank", "noopener");
        else context.onTap(post, button, node);
      });
      line.append(node);
    }
    keys.append(line);
  }
  return keys;
}

// What an empty chat shows: three things to try.
export function welcome(strings, say) {
  const node = make("div", "empty");
  const image = make("img");
  image.src = "/assets/icon.svg";
  image.alt = "";
  node.append(image, make("h3", "", strings["empty-title"]), make("p", "", strings["empty-body"]));
  for (const name of ["example-fix", "example-plan", "example-help"]) {
    const button = make("button", "", strings[name]);
    button.type = "button";
    button.addEventListener("click", () => say(strings[name]));
    node.append(button);
  }
  return node;
}

// A long press answers a message, as on a phone.
function hold(node, act) {
  let timer = 0;
  node.addEventListener("touchstart", () => { timer = setTimeout(act, 550); }, { passive: true });
  for (const end of ["touchend", "touchmove", "touchcancel"]) {
    node.addEventListener(end, () => clearTimeout(timer), { passive: true });
  }
}
