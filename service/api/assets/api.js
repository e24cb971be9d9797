// The client of the service's API: requests, errors, login and event streams.

const root = 'api/v1/';

// Problem is an error answer (problem+json). fields lists the errors of fields as {field, text}.
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `the service answered ${status}`);
    this.status = status;
    this.fields = (body.errors ?? []).map((e) => ({ field: e.location ?? '', text: e.message ?? '' }));
  }
}

let login = async () => {};

// onLogin sets the function that asks the reader for a token.
export function onLogin(f) {
  login = f;
}

let asking = null;

// askOnce shows one login form for all requests that were refused.
function askOnce() {
  asking ??= login().finally(() => { asking = null; });
  return asking;
}

// url returns the address of a resource. It escapes the parts of the path.
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

// post sends JSON. The service executes requests with the same key once.
export function post(path, body, key) {
  const headers = { 'Content-Type': 'application/json' };
  if (key) headers['Idempotency-Key'] = key;
  return request(url(...path), { method: 'POST', headers, body: JSON.stringify(body ?? {}) });
}

// remove deletes a resource.
export function remove(path) {
  return request(url(...path), { method: 'DELETE', headers: {} });
}

// newKey returns an idempotency key of 128 random bits.
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');
}

// sendToken logs in. The service sets a cookie that scripts cannot read.
export async function sendToken(token) {
  const answer = await fetch('login', { method: 'POST', body: new URLSearchParams({ token }) });
  if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => ({ title: 'Invalid or revoked token.' })));
}

const kinds = ['header', 'batch', 'job', 'trial', 'evaluation', 'grow', 'hpo', 'comparison', 'stop', 'resume', 'verify', 'campaign', 'schedule', 'online'];
const retryDelay = 3000; // ms

// stream reads the events after the number last, until it is closed or the events have ended. It
// calls take(kind, data, seq) once for each event, in order, and state('live' | 'waiting' | 'ended')
// when the connection changes. The browser reconnects after a lost connection. stream reconnects
// after a refused one.
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
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(probe, retryDelay);
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
  // probe sends a request that shows the login form where the login has expired.
  const probe = () => get(['bases']).catch(() => {}).then(() => { if (!over) open(); });
  open();
  return { close };
}
