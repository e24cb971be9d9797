// Numbers as people read them: always with a unit, machine time in h, min and s.

const absent = '–';
const nb = '\u00a0'; // between a number and its unit

// duration writes a length of time given in seconds with one decimal, as FormatSeconds of the terminal does: 3.2 min.
export function duration(s) {
  if (!Number.isFinite(s)) return absent;
  const long = Math.abs(s);
  const [name, unit] = long === 0 || (long >= 1 && long < 120) ? ['s', 1] : long < 1e-3 ? ['µs', 1e-6] : long < 1 ? ['ms', 1e-3] : long < 7200 ? ['min', 60] : ['h', 3600];
  return `${trimmed(s / unit, 1)}${nb}${name}`;
}

// callTime writes the time of one call of a collective, in seconds, with three digits.
export function callTime(s) {
  if (!(s > 0) || !Number.isFinite(s)) return absent;
  const [unit, name] = s < 1e-3 ? [1e-6, 'µs'] : s < 1 ? [1e-3, 'ms'] : [1, 's'];
  return `${digits(s / unit, 3)}${nb}${name}`;
}

// hours writes node-hours as FormatNodeHours of the terminal does; the place says what it is.
export function hours(h) {
  return h < 1 ? `${Number(h.toPrecision(2))}` : trimmed(h, 1);
}

// bytes writes a size as tutti's files do: 512 B, 64 KiB, 1 MiB.
export function bytes(n) {
  for (const [unit, name] of [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']]) {
    if (n >= unit) return `${trimmed(n / unit, 1)}${nb}${name}`;
  }
  return `${n}${nb}B`;
}

// ratio writes a slowdown or a gain: three decimals below ten.
export function ratio(x) {
  if (!(x > 0)) return absent;
  return x >= 10 ? x.toFixed(1) : x.toFixed(3);
}

// percent writes a part; only a true zero is 0 %.
export function percent(x) {
  if (!Number.isFinite(x)) return absent;
  if (x > 0 && x < 0.0005) return `<0.1${nb}%`;
  if (x < 0 && x > -0.0005) return `>-0.1${nb}%`;
  return `${trimmed(100 * x, Math.abs(x) < 0.1 ? 1 : 0)}${nb}%`;
}

// count writes a whole number with its thousands apart.
export function count(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, nb);
}

// plural writes a number with its noun: 1 job, 2 jobs.
export function plural(n, noun, many = `${noun}s`) {
  return `${count(n)}${nb}${n === 1 ? noun : many}`;
}

// age writes how long ago a moment was, or how far ahead it is; both in milliseconds.
export function age(then, now) {
  const s = Math.round((now - then) / 1000);
  if (Math.abs(s) < 5) return 'now';
  const text = coarse(Math.abs(s));
  return s > 0 ? `${text} ago` : `in ${text}`;
}

function coarse(s) {
  for (const [unit, name] of [[86400, 'd'], [3600, 'h'], [60, 'min']]) {
    if (s >= 2 * unit || (s >= unit && unit < 86400)) return `${Math.floor(s / unit)}${nb}${name}`;
  }
  return `${s}${nb}s`;
}

// clock writes a moment as the reader's local date and time.
export function clock(then) {
  const d = new Date(then);
  const pad = (n) => String(n).padStart(2, '0');
  const date = `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())}`;
  return `${date} ${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}`;
}

// moment reads a time of the API; Go's zero time and a missing one are null.
export function moment(text) {
  const t = Date.parse(text ?? '');
  return Number.isNaN(t) || t < 0 ? null : t;
}

// point writes where a collective runs.
export function point(p) {
  return `${p.nodes}×${p.ppn}${nb}${bytes(p.msg_bytes)}`;
}

// pointKey is different for each point of a problem.
export const pointKey = (p) => `${p.nodes}/${p.ppn}/${p.msg_bytes}`;

// mapTitle names the map of a point: the points of a map differ only in nodes and message size.
export const mapTitle = (p) => `${plural(p.ppn, 'process', 'processes')} per node`;

function trimmed(x, decimals) {
  return String(Number(x.toFixed(decimals)));
}

function digits(x, n) {
  return x >= 10 ** (n - 1) ? String(Math.round(x)) : String(Number(x.toPrecision(n)));
}
