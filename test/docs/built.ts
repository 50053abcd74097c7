import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as ts from 'typescript';
import { ROOT } from './blocks';

/** A file of an application: `src/main.ts`. */
export interface SourceFile {
  file: string;
  text: string;
}

/** The package name of the library resolves to its source. */
export const LOADER = join(ROOT, 'test/support/runtime/register-ts.cjs');

/** A file that `nest new` generates (`@nestjs/schematics` 12.0.6). */
export const generated = (file: string): string => readFileSync(join(__dirname, 'nest-new', `${file}.txt`), 'utf8');

/** Compiles files with the settings that `nest new` generates. @returns a temporary folder with `dist` */
export function built(files: readonly SourceFile[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-hello-'));
  const { compilerOptions } = ts.parseConfigFileTextToJson('tsconfig.json', generated('tsconfig.json')).config;
  const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, folder);
  // The generated application is CommonJS, because its package.json sets no type.
  const compilation = { ...options, module: ts.ModuleKind.CommonJS, moduleResolution: undefined };
  for (const { file, text } of files) {
    const target = join(folder, file.replace(/^src/, 'dist').replace(/ts$/, 'js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, ts.transpileModule(text, { compilerOptions: compilation, fileName: file }).outputText);
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}
