import * as ts from 'typescript';
import { blocksOf, fileOf } from './blocks';

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
 */
// eslint-disable-next-line typescript/no-explicit-any
export function modulesOf(page: string, provided: Record<string, object> = {}): Record<string, any> {
  const texts = new Map(blocksOf(page).map((block) => [fileOf(block), block.text]));
  const loaded: Record<string, object> = {};
  const load = (file: string): object => {
    if (file in loaded) return loaded[file]!;
    const exports = (loaded[file] = {});
    run(texts.get(file)!, file, { exports, require: take });
    return exports;
  };
  const take = (name: string): object => {
    if (name in provided) return provided[name]!;
    return name.startsWith('./') ? load(`src/${name.slice(2).replace(/js$/, 'ts')}`) : require(name);
  };
  for (const file of texts.keys()) if (file) load(file);
  return loaded;
}

/** Runs the script that a page shows, in a browser-like environment with this `fetch`. */
// eslint-disable-next-line typescript/no-explicit-any
export function scriptOf(page: string, fetch: (path: string, init?: RequestInit) => Promise<Response>): any {
  const exports = {};
  const { text } = blocksOf(page).find(({ language }) => language === 'js')!;
  run(text, 'page.js', { exports, fetch });
  return exports;
}
