// Tells node that .js files are modules.
import { register } from 'node:module';

const hooks = `export async function load(url, context, next) {
  return next(url, url.endsWith('.js') ? { ...context, format: 'module' } : context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
