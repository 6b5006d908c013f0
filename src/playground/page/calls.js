// The side pane: every Bot API call, and how many there are a second.

import { make } from "./text.js";

const SHOWN = 250;
const rows = new Map();
const seconds = [];
let polls = 0;
const list = document.getElementById("list");

export function reset(calls) {
  rows.clear();
  list.replaceChildren();
  polls = 0;
  calls.forEach((call) => add(call, false));
}

export function add(call, live = true) {
  if (call.method === "getUpdates") {
    polls = Math.max(polls, 0) + (rows.has(call.number) ? 0 : 1);
    rows.set(call.number, null);
    document.getElementById("polls").textContent = `getUpdates × ${polls}`;
    return;
  }
  const old = rows.get(call.number);
  const row = draw(call);
  if (old) {
    old.replaceWith(row);
  } else {
    if (live) seconds.push(Date.now());
    list.prepend(row);
  }
  rows.set(call.number, row);
  while (list.children.length > SHOWN) list.lastChild.remove();
}

function draw(call) {
  const row = make("li");
  const time = make("time", "", (call.at_ms / 1000).toFixed(2));
  const kind = call.status === 200 ? "ok" : call.status === 0 ? "wait" : "no";
  row.append(time, make("b", "", call.method), make("span", kind, call.status || "…"));
  const params = call.params;
  const words = call.description || params.text || params.caption || params.action || params.document || "";
  const keys = params.reply_markup?.inline_keyboard?.flat().map((button) => button.text).join(" · ");
  const line = [params.message_id && `#${params.message_id}`, String(words).replace(/\s+/g, " ").slice(0, 160), keys && `[${keys}]`];
  row.append(make("p", "", line.filter(Boolean).join("  ")));
  row.title = JSON.stringify(params, null, 1).slice(0, 1500);
  return row;
}

export function tick(strings) {
  const now = Date.now();
  while (seconds.length && seconds[0] < now - 60_000) seconds.shift();
  const counts = new Array(60).fill(0);
  for (const at of seconds) counts[59 - Math.min(59, Math.floor((now - at) / 1000))] += 1;
  const top = Math.max(3, ...counts);
  const bars = document.getElementById("bars");
  while (bars.children.length < 60) bars.append(make("i"));
  counts.forEach((count, place) => {
    bars.children[place].style.height = `${(count / top) * 100}%`;
    bars.children[place].classList.toggle("hot", count > 5);
  });
  document.getElementById("rate").textContent = `${seconds.length} ${strings["rate-unit"]}`;
}
