import { dirname, join, relative } from 'node:path/posix';
import * as ts from 'typescript';
import { blocksOf, filesOf } from './blocks';

const compilerOptions: ts.CompilerOptions = {
  module: ts.ModuleKind.CommonJS,
  target: ts.ScriptTarget.ES2022,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  useDefineForClassFields: false,
  allowJs: true,
};

const run = (text: string, fileName: string, scope: Record<string, unknown>): void => {
  const { outputText } = ts.transpileModule(text, { compilerOptions, fileName });
  // The evaluated code is that of our own documentation.
  // eslint-disable-next-line no-new-func, typescript/no-implied-eval
  new Function(...Object.keys(scope), outputText)(...Object.values(scope));
};

/**
 * Runs the files that a page shows. Returns the exports of each file by its path.
 *
 * @param provided modules that the page presupposes, such as `./users.js`
 * @param files the files to run; by default, all
 */
export function modulesOf(
  page: string,
  provided: Record<string, object> = {},
  files?: readonly string[],
  // eslint-disable-next-line typescript/no-explicit-any
): Record<string, any> {
  const texts = new Map(filesOf(page).map(({ file, text }) => [file, text]));
  const loaded: Record<string, object> = {};
  const load = (file: string): object => {
    if (file in loaded) return loaded[file]!;
    const exports = (loaded[file] = {});
    run(texts.get(file)!, file, { exports, require: (name: string) => take(name, dirname(file)) });
    return exports;
  };
  const take = (name: string, folder: string): object => {
    if (!name.startsWith('.')) return provided[name] ?? require(name);
    const file = join(folder, name);
    return provided[`./${relative('src', file)}`] ?? load(file.replace(/(\.js)?$/, '.ts'));
  };
  for (const file of files ?? texts.keys()) load(file);
  return loaded;
}

/** The user table of the quick start, with its migration: the `users.ts` that other pages presuppose. */
// eslint-disable-next-line typescript/no-explicit-any
export const quickStartUsers = (): any => modulesOf('docs/quick-start.md', {}, ['src/users.ts'])['src/users.ts'];

/** Runs the script that a page shows, in a browser-like environment with this `fetch`. */
// eslint-disable-next-line typescript/no-explicit-any
export function scriptOf(page: string, fetch: (path: string, init?: RequestInit) => Promise<Response>): any {
  const exports = {};
  const { text } = blocksOf(page).find(({ language }) => language === 'js')!;
  run(text, 'page.js', { exports, fetch });
  return exports;
}
