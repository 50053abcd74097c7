import 'reflect-metadata';
import type { DynamicModule, INestApplicationContext, LoggerService, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AuthModuleOptions } from '../../foundation/config/auth-options';
import { CommandRefused } from '../console/command';
import type { HostWatch } from './host-watch';

type RootModule = Type | DynamicModule;

/** What a file of the host exports: its root module, or the options of `AuthModule`. */
export type Exported = { readonly module: RootModule } | { readonly options: AuthModuleOptions };

/** The files in which `nest build` writes the root module. */
const USUAL_FILES = ['dist/app.module.js', 'dist/src/app.module.js'];

/** The file of the root module: the named one, or the usual one. Undefined if there is none. */
export function fileOfHost(named: string | undefined): string | undefined {
  const found = (named === undefined ? USUAL_FILES : [named]).find((file) => existsSync(file));
  if (named !== undefined && !found) {
    throw new CommandRefused(`There is no file ${named}. Build the application first: npm run build`);
  }
  return found && resolve(found);
}

/** Loads a file of the host, in CommonJS or ESM. @throws CommandRefused if it exports neither a module nor options */
export async function exportedBy(file: string, name: string | undefined, watch: HostWatch): Promise<Exported> {
  const required = createRequire(file);
  if (/\.[cm]?ts$/.test(file) && !required.extensions[extname(file)]) {
    throw new CommandRefused(`${file} is not compiled. Name its compiled file, such as dist/app.module.js.`);
  }
  const namespace = await watch.start('Its code did not end', loaded(file, required));
  const chosen = name === undefined ? bestOf(namespace, file) : namespace[name];
  if (chosen === undefined) {
    throw new CommandRefused(`${file} has no export ${name}. It exports: ${Object.keys(namespace).join(', ')}.`);
  }
  // A function that is not a module class is called: it returns the module or the options.
  const value: unknown =
    typeof chosen === 'function' && !isModule(chosen)
      ? await watch.start('Its exported function did not end', Promise.resolve((chosen as () => unknown)()))
      : chosen;
  if (isModule(value)) return { module: value };
  if (typeof value === 'object' && value !== null) return { options: value };
  throw new CommandRefused(`${file} exports neither a Nest module nor the options of AuthModule.`);
}

async function loaded(file: string, required: NodeJS.Require): Promise<Record<string, unknown>> {
  try {
    return required(file) as Record<string, unknown>;
  } catch (error) {
    // A module with top-level await cannot be required.
    if ((error as { code?: unknown }).code !== 'ERR_REQUIRE_ASYNC_MODULE') throw error;
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  }
}

function bestOf(namespace: Record<string, unknown>, file: string): unknown {
  const modules = Object.entries(namespace).filter(([, value]) => isModule(value));
  const best = namespace.AppModule ?? namespace.default ?? namespace.authOptions;
  if (best !== undefined) return best;
  if (modules.length === 1) return modules[0]![1];
  const names = (modules.length ? modules : Object.entries(namespace)).map(([name]) => name).join(', ');
  throw new CommandRefused(
    `${file} exports ${names || 'nothing'}. Name the export of the root module or of the options with --export.`,
  );
}

const MODULE_KEYS = ['imports', 'providers', 'controllers', 'exports'];

function isModule(value: unknown): value is RootModule {
  if (typeof value === 'function') return MODULE_KEYS.some((key) => Reflect.hasOwnMetadata(key, value));
  return typeof (value as { module?: unknown } | null | undefined)?.module === 'function';
}

/** A line of the log of the host while it starts. */
export interface LogLine {
  readonly level: 'log' | 'warn' | 'error';
  readonly context: string;
  readonly text: string;
}

/** Collects the log of a start, and reports the first failed connection to PostgreSQL, before its further attempts. */
class StartLog implements LoggerService {
  readonly lines: LogLine[] = [];
  reportDatabase: (error: Error) => void = () => undefined;

  log = (...parts: unknown[]): void => this.add('log', parts);
  warn = (...parts: unknown[]): void => this.add('warn', parts);
  error = (...parts: unknown[]): void => this.add('error', parts);
  fatal = this.error;

  private add(level: LogLine['level'], parts: unknown[]): void {
    const context = parts.length > 1 ? String(parts.at(-1)) : '';
    this.lines.push({ level, context, text: String(parts[0]) });
    if (level === 'error' && context === 'TypeOrmModule') {
      const [cause = ''] = String(parts[1] ?? '').split('\n    at ');
      this.reportDatabase(new DatabaseDown(cause.replace(/^\w*error: /i, '')));
    }
    const [, ofPool] = /^PostgreSQL was not reached \((.*)\)/.exec(String(parts[0])) ?? [];
    if (ofPool !== undefined) this.reportDatabase(new DatabaseDown(ofPool));
  }
}

/** PostgreSQL could not be connected while the host started. */
export class DatabaseDown extends Error {}

/** The codes with which PostgreSQL refuses a connection: no such database, no such account, a wrong password. */
const REFUSALS: readonly unknown[] = ['3D000', '28000', '28P01'];

/** The result of a start: the application, or why it does not start. */
export interface Started {
  readonly context?: INestApplicationContext;
  readonly failure?: Error;
  readonly lines: readonly LogLine[];
}

/** Starts an application without its HTTP server. */
export async function startHostOf(module: RootModule, watch: HostWatch): Promise<Started> {
  const logger = new StartLog();
  const { lines } = logger;
  const down = new Promise<never>((_, reject) => (logger.reportDatabase = reject));
  try {
    const start = NestFactory.createApplicationContext(module, { logger, abortOnError: false });
    return { context: await watch.start('The application did not start', Promise.race([start, down])), lines };
  } catch (failure) {
    const { code, message } = (failure ?? {}) as Error & { code?: unknown };
    return { failure: REFUSALS.includes(code) ? new DatabaseDown(message) : (failure as Error), lines };
  }
}
