import { type DynamicModule, Module } from '@nestjs/common';
import { AppModule } from '../app.module';
import type { Environment } from '../environment';
import { PublicUrl } from '../web/own-host.guard';
import { Mailbox } from './mailbox';
import { MailboxController } from './mailbox.controller';

/** The application, and the page of the mailbox if there is one. */
@Module({})
export class DevModule {
  /** The parameters are those of {@link AppModule.forEnvironment}. */
  static forEnvironment(environment: Environment, databaseUrl: string): DynamicModule {
    const app = AppModule.forEnvironment(environment, databaseUrl);
    const { mailbox } = environment.development;
    if (!mailbox) return app;
    return {
      module: DevModule,
      imports: [app],
      controllers: [MailboxController],
      providers: [
        { provide: Mailbox, useValue: mailbox },
        { provide: PublicUrl, useValue: new PublicUrl(environment.url) },
      ],
    };
  }
}
