import { type INestApplicationContext, Inject, Injectable, Optional } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Realms } from '../../foundation/realm/realm';
import { CommandRefused } from './command-error';

/** A started application: what `NestFactory.createApplicationContext` resolves to. */
export type OpenApplication = Pick<INestApplicationContext, 'get' | 'close'>;

/** Starts the host's application for a command that needs it. */
export type OpensApplication = () => Promise<OpenApplication>;

export const OPENS_APPLICATION = Symbol('OPENS_APPLICATION');

/** Opens the host's application for commands that use its data. */
@Injectable()
export class Application {
  constructor(
    private readonly own: ModuleRef,
    @Optional() @Inject(OPENS_APPLICATION) private readonly open?: OpensApplication,
  ) {}

  /** Starts the application, runs `work` and closes the application. @throws Refused if there is none */
  async use<T>(work: (application: Pick<OpenApplication, 'get'>) => Promise<T>): Promise<T> {
    const application = await (this.open?.() ?? this.beside());
    try {
      return await work(application);
    } finally {
      await application.close();
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
