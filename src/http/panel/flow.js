// The live flow of a session.
import { el, fold, meter, note } from "./dom.js";
import { short, span, t } from "./words.js";

const SIGNS = { running: "▶", ok: "✓", failed: "✕", refused: "⊘", interrupted: "⏸", cancelled: "■" };

function call(line, place) {
  const time = line.duration_ms === undefined ? "" : span(line.duration_ms);
  const head = el(
    "span",
    { cls: "call" },
    el("i", { cls: `sign ${line.state}`, text: SIGNS[line.state] ?? "", title: t(`call-${line.state}`) }),
    el("b", { text: line.text, dir: "auto" }),
    line.argument && el("code", { text: line.argument, dir: "ltr" }),
    time && el("small", { text: time }),
  );
  if (!line.detail) return el("li", { cls: "tool" }, head);
  return el("li", { cls: "tool" }, fold(place, head, el("pre", { text: line.detail, dir: "auto" })));
}

function row(line, place) {
  if (line.kind === "tool") return call(line, place);
  return el("li", { cls: line.kind, text: line.text, dir: "auto" });
}

export function flowView({ session, flow }) {
  if (!flow) return [note(t("flow-none"))];
  const facts = el(
    "div",
    { cls: "cards" },
    el("div", { cls: "card" }, el("small", { text: t("elapsed") }), el("b", { text: span(flow.elapsed_ms) })),
    flow.window_tokens > 0 &&
      el(
        "div",
        { cls: "card" },
        el("small", { text: t("context") }),
        meter(flow.context_tokens, flow.window_tokens, `${short(flow.context_tokens)} / ${short(flow.window_tokens)}`),
      ),
  );
  const lines = flow.lines.map((line, index) => row(line, `${session.id}/${session.turn}/${index}`));
  return [
    facts,
    flow.ended && el("p", { cls: "ended", text: flow.ended, dir: "auto" }),
    el("ol", { cls: "log" }, ...lines),
    flow.text && el("p", { cls: "live", text: flow.text, dir: "auto" }),
  ];
}
