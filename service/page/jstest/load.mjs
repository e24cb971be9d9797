// The modules are served as .js without a package.json, so node is told what they are.
import { register } from 'node:module';

const hooks = `export async function load(url, context, next) {
  return next(url, url.endsWith('.js') ? { ...context, format: 'module' } : context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
