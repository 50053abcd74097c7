import { type INestApplicationContext, Inject, Injectable, Optional } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Realms } from '../../foundation/realm/realm';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandRefused } from './command';

/** A started application: what `NestFactory.createApplicationContext` resolves to. */
export type OpenApplication = Pick<INestApplicationContext, 'get' | 'close'>;

/** Starts the host's application for a command that needs it. */
export type OpensApplication = () => Promise<OpenApplication>;

/** Milliseconds after which the end of a command does not wait for the application any longer. */
const CLOSE_MS = 10_000;

export const OPENS_APPLICATION = Symbol('OPENS_APPLICATION');

/** Otherwise Node would exit with 0 for an application that calls `process.exit`, or waits for something that never comes. */
function failUnended(): void {
  process.exitCode = 1;
  process.stderr.write('The command did not end: the application ended the process, or its start never ends.\n');
}

/** Opens the host's application for commands that use its data. */
@Injectable()
export class Application {
  constructor(
    private readonly own: ModuleRef,
    @Optional() @Inject(OPENS_APPLICATION) private readonly open?: OpensApplication,
  ) {}

  /**
   * Starts the application, runs `work` and closes the application, which may take ten seconds.
   *
   * @throws CommandRefused if there is none
   */
  async use<T>(work: (application: Pick<OpenApplication, 'get'>) => Promise<T>): Promise<T> {
    process.once('exit', failUnended);
    try {
      const application = await (this.open?.() ?? this.beside());
      try {
        return await work(application);
      } finally {
        await closed(application);
      }
    } finally {
      process.off('exit', failUnended);
    }
  }

  /** The application in which this command runs, if it imports `AuthModule`. */
  private beside(): OpenApplication {
    try {
      this.own.get(Realms, { strict: false });
    } catch {
      throw new CommandRefused(
        'This command needs your application. Name it: AuthConsoleModule.forApplication(() => ' +
          'NestFactory.createApplicationContext(AppModule)).',
      );
    }
    return { get: this.own.get.bind(this.own) as OpenApplication['get'], close: async () => undefined };
  }
}

/** Closes an application. A part of it that never closes, such as a pool with a lost connection, does not keep the command. */
export async function closed(application: Pick<OpenApplication, 'close'>, ms = CLOSE_MS): Promise<void> {
  const waiting = new AbortController();
  const timeout = sleep(ms, true, { signal: waiting.signal }).catch(() => false);
  const isOver = await Promise.race([application.close().then(() => false), timeout]).finally(() => waiting.abort());
  if (isOver) process.stderr.write(`The application did not close within ${ms / 1000} seconds.\n`);
}
