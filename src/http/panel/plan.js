// The plan of a session, with what the host saw.
import { el, fold, meter, note } from "./dom.js";
import { moment, number, t } from "./words.js";

const MARKS = { pending: "☐", in_progress: "▶", completed: "☑", skipped: "⏭", failed: "✕", blocked: "⏸", recheck: "⟳" };
const SEEN = { pending: "○", passed: "●", failed: "✕", stale: "⟳", blocked: "⊘", attested: "✎" };

function seen(line) {
  return el(
    "li",
    { cls: `seen ${line.state}` },
    el("i", { text: SEEN[line.state] ?? "" }),
    el(
      "div",
      {},
      el("span", { text: line.what, dir: "auto" }),
      line.note && el("small", { text: line.note, dir: "auto" }),
    ),
    el("em", { text: t(`evidence-${line.state}`), title: line.call ?? "" }),
  );
}

function task(row, place) {
  const held = row.checks.filter((check) => check.state === "passed" || check.state === "attested").length;
  const head = el(
    "span",
    { cls: "task" },
    el("i", { cls: `mark ${row.mark}`, text: MARKS[row.mark] ?? "", title: t(`mark-${row.mark}`) }),
    el("code", { text: row.id }),
    el("b", { text: row.title, dir: "auto" }),
    row.checks.length > 0 && el("small", { text: `${number(held)}/${number(row.checks.length)}`, title: t("checks") }),
  );
  const remark = row.remark && el("p", { cls: "remark", text: row.remark, dir: "auto" });
  if (!row.criteria.length && !row.checks.length) return el("li", {}, head, remark);
  const criteria = row.criteria.map((one) => el("li", { text: one, dir: "auto" }));
  return el(
    "li",
    {},
    fold(
      place,
      head,
      criteria.length > 0 && el("h4", { text: t("criteria") }),
      criteria.length > 0 && el("ul", { cls: "plain-list" }, ...criteria),
      row.checks.length > 0 && el("h4", { text: t("checks") }),
      row.checks.length > 0 && el("ul", { cls: "evidence" }, ...row.checks.map(seen)),
    ),
    remark,
  );
}

function facts(plan) {
  const parts = [];
  if (plan.version > 0) parts.push(`${t("version")} ${number(plan.version)}`);
  if (plan.revision) parts.push(`${t("revision")} ${plan.revision.slice(0, 8)}`);
  if (plan.approved_at) parts.push(`${t("approved")} ${moment(plan.approved_at)}`);
  return parts.length > 0 && el("p", { cls: "facts", text: parts.join(" · ") });
}

export function planView({ session, plan }) {
  if (!plan) return [note(t("plan-none"))];
  const place = `${session.id}/plan`;
  return [
    el("h3", { cls: "title", text: plan.title, dir: "auto" }),
    el("p", {}, el("span", { cls: `face ${plan.face}`, text: t(`face-${plan.face}`) })),
    facts(plan),
    plan.total > 0 && meter(plan.done, plan.total, `${t("done")} ${number(plan.done)} / ${number(plan.total)}`),
    plan.missing.length > 0 && el("h4", { text: t("missing") }),
    plan.missing.length > 0 && el("ul", { cls: "plain-list" }, ...plan.missing.map((one) => el("li", { text: one, dir: "auto" }))),
    plan.rows.length > 0 && el("ol", { cls: "tasks" }, ...plan.rows.map((row) => task(row, `${place}/${row.id}`))),
    plan.verification.length > 0 && el("h4", { text: t("verification") }),
    plan.verification.length > 0 && el("ul", { cls: "evidence" }, ...plan.verification.map(seen)),
    ...plan.sections.map((one) =>
      el("section", { cls: "prose" }, el("h4", { text: one.heading, dir: "auto" }), el("p", { text: one.body, dir: "auto" })),
    ),
  ];
}
