// Sentences of the page, in the reader's language.
let all = {};

export const t = (key) => all[key] ?? key;

export async function load(language) {
  const answer = await fetch(`/panel/words?lang=${encodeURIComponent(language)}`);
  const told = await answer.json();
  all = told.words;
  document.documentElement.lang = told.language;
  document.documentElement.dir = told.right_to_left ? "rtl" : "ltr";
  for (const node of document.querySelectorAll("[data-t]")) node.textContent = t(node.dataset.t);
  for (const node of document.querySelectorAll("[data-hint]")) {
    node.title = t(node.dataset.hint);
    node.setAttribute("aria-label", node.title);
  }
  return told;
}

const numbers = () => new Intl.NumberFormat(document.documentElement.lang);
export const number = (value) => numbers().format(value);

export function short(value) {
  const style = { notation: "compact", maximumFractionDigits: 1 };
  return new Intl.NumberFormat(document.documentElement.lang, style).format(value);
}

export function span(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${number(seconds)} ${t("seconds")}`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${number(minutes)} ${t("minutes")} ${number(seconds % 60)} ${t("seconds")}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${number(hours)} ${t("hours")} ${number(minutes % 60)} ${t("minutes")}`;
  return `${number(Math.floor(hours / 24))} ${t("days")}`;
}

export function moment(text) {
  const style = { dateStyle: "medium", timeStyle: "short" };
  return new Intl.DateTimeFormat(document.documentElement.lang, style).format(new Date(text));
}

// Languages by their own names.
export function nameOf(tag) {
  try {
    return new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
