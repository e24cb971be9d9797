// The service's API: requests, problems, login and streams of events.

const root = 'api/v1/';

// Problem is an answer of kind problem+json. fields are {field, text}: what is wrong where.
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `the service answered ${status}`);
    this.status = status;
    this.fields = (body.errors ?? []).map((e) => ({ field: e.location ?? '', text: e.message ?? '' }));
  }
}

let login = async () => {};

// onLogin says who asks for a token when the service wants one.
export function onLogin(f) {
  login = f;
}

let asking = null;

// askOnce shows one login form however many requests were refused.
function askOnce() {
  asking ??= login().finally(() => { asking = null; });
  return asking;
}

// url is the address of a resource; the parts of the path are quoted.
export function url(...path) {
  return root + path.map(encodeURIComponent).join('/');
}

async function request(address, options) {
  for (;;) {
    const answer = await fetch(address, { ...options, headers: { Accept: 'application/json', ...options.headers } })
      .catch(() => { throw new Error('The service cannot be reached.'); });
    if (answer.status === 401) {
      await askOnce();
      continue;
    }
    if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => ({})));
    return answer.status === 204 ? null : answer.json();
  }
}

// get reads a resource; query is an object.
export function get(path, query = {}) {
  const search = new URLSearchParams(query).toString();
  return request(url(...path) + (search && `?${search}`), {});
}

// post sends JSON. key makes a request that is sent twice count once.
export function post(path, body, key) {
  const headers = { 'Content-Type': 'application/json' };
  if (key) headers['Idempotency-Key'] = key;
  return request(url(...path), { method: 'POST', headers, body: JSON.stringify(body ?? {}) });
}

// newKey makes an idempotency key of 128 random bits.
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
}

// sendToken logs in; the answer is a cookie that scripts cannot read.
export async function sendToken(token) {
  const answer = await fetch('login', { method: 'POST', body: new URLSearchParams({ token }) });
  if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => ({ title: 'This token is not known.' })));
}

const kinds = ['header', 'batch', 'job', 'trial', 'evaluation', 'grow', 'hpo', 'stop', 'resume', 'verify', 'campaign', 'schedule', 'online'];
const again = 3000; // ms

// stream reads the events after number last until it is closed or the row has ended: take(kind, data, seq) for each,
// each once and in order, and state('live' | 'waiting' | 'ended') when that changes. The
// browser connects again by itself after a break; after a refusal this does.
export function stream(path, take, state, last = 0) {
  let source;
  let timer = 0;
  let over = false;
  const close = () => {
    over = true;
    clearTimeout(timer);
    source.close();
  };
  const open = () => {
    source = new EventSource(url(...path) + (last ? `?after=${last}` : ''));
    source.onopen = () => state('live');
    source.onerror = () => {
      state('waiting');
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(probe, again);
    };
    for (const kind of kinds) {
      source.addEventListener(kind, (e) => {
        const seq = Number(e.lastEventId) || 0;
        if (seq && seq <= last) return;
        last = seq || last;
        take(kind, JSON.parse(e.data), seq);
      });
    }
    source.addEventListener('end', () => {
      close();
      state('ended');
    });
  };
  // probe asks in a way that leads to the login form when that is what is missing.
  const probe = () => get(['bases']).catch(() => {}).then(() => { if (!over) open(); });
  open();
  return { close };
}
