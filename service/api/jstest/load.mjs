// Tells node that .js files are modules, and finds those of the report, which the service serves
// from the same folder as the page's.
import { register } from 'node:module';

const hooks = `import { existsSync } from 'node:fs';
export async function resolve(specifier, context, next) {
  const own = specifier.startsWith('./') ? new URL(specifier, context.parentURL) : null;
  if (own && !existsSync(own)) specifier = own.href.replace('/service/api/assets/', '/report/assets/');
  return next(specifier, context);
}
export async function load(url, context, next) {
  return next(url, url.endsWith('.js') ? { ...context, format: 'module' } : context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
