// Requests with the reader's token. It lives in this tab alone.
const KEY = "greenlight-token";

export class Refused extends Error {
  constructor(status, word) {
    super(word);
    this.status = status;
    this.word = word;
  }
}

export const token = () => sessionStorage.getItem(KEY) ?? "";
export const keep = (value) => sessionStorage.setItem(KEY, value);
export const forget = () => sessionStorage.removeItem(KEY);

// A link may carry the token behind the #, which no browser sends to a server.
export function fromLink() {
  const found = /^#token=([^&]+)&?(.*)$/.exec(location.hash);
  if (!found) return;
  keep(decodeURIComponent(found[1]));
  history.replaceState(null, "", `${location.pathname}${location.search}#${found[2]}`);
}

async function ask(path, headers = {}, signal = undefined) {
  const sent = { authorization: `Bearer ${token()}`, ...headers };
  const answer = await fetch(path, { headers: sent, signal, cache: "no-store" });
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  throw new Refused(answer.status, told.error ?? "");
}

export const sessions = async () => (await (await ask("/api/sessions?limit=200")).json()).sessions;
export const session = async (id) => (await ask(`/api/sessions/${encodeURIComponent(id)}`)).json();
export const usage = async () => (await ask("/api/usage")).json();

// Reads the event stream until it ends. `tell` hears when it begins and of every event, with its id.
export async function follow(last, tell, signal) {
  const answer = await ask("/api/events", last ? { "last-event-id": last } : {}, signal);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  tell("");
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      if (/^data:/m.test(block)) tell(/^id: ?(.*)$/m.exec(block)?.[1] ?? "");
    }
  }
}
