// What was used, over all sessions.
import { el, meter } from "./dom.js";
import { number, short, t } from "./words.js";

const SUMS = [
  ["turns", "turns"],
  ["requests", "requests"],
  ["tool_calls", "calls"],
  ["input_tokens", "input"],
  ["cached_tokens", "cached"],
  ["output_tokens", "output"],
];

const card = (label, value) =>
  el("div", { cls: "card" }, el("small", { text: label }), el("b", { text: short(value), title: number(value) }));

const cards = (totals) => el("div", { cls: "cards" }, ...SUMS.map(([field, word]) => card(t(word), totals[field])));

function table(models) {
  const head = el("tr", {}, el("th", { text: t("model") }), ...SUMS.map(([, word]) => el("th", { text: t(word) })));
  const rows = models.map((one) =>
    el(
      "tr",
      {},
      el("td", { text: one.model, dir: "ltr" }),
      ...SUMS.map(([field]) => el("td", { text: short(one[field]), title: number(one[field]) })),
    ),
  );
  return el("div", { cls: "scroll" }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows)));
}

export function usageView(usage) {
  const used = usage.today.input_tokens + usage.today.output_tokens;
  const limit = usage.day_tokens > 0 && meter(used, usage.day_tokens, `${t("day-limit")} ${short(used)} / ${short(usage.day_tokens)}`);
  return [
    el("div", { cls: "cards" }, card(t("known"), usage.sessions), card(t("now"), usage.running)),
    el("h4", { text: t("today") }),
    limit || el("p", { cls: "facts", text: `${t("day-limit")} ${t("unlimited")}` }),
    cards(usage.today),
    el("h4", { text: t("lifetime") }),
    cards(usage.lifetime),
    el(
      "div",
      { cls: "cards" },
      card(t("plans-created"), usage.plans_created),
      card(t("plans-updated"), usage.plans_updated),
      card(t("plans-blocked"), usage.plans_blocked),
    ),
    usage.models.length > 0 && el("h4", { text: t("models") }),
    usage.models.length > 0 && table(usage.models),
  ];
}
