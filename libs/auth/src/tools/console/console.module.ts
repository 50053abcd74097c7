import { type DynamicModule, Module } from '@nestjs/common';
import { Application, OPENS_APPLICATION, type OpensApplication } from './application';
import { KeygenCommand } from './keygen.command';
import { PruneCommand } from './prune.command';
import { ReleaseCommand } from './release.command';
import { SecretCommand } from './secret.command';
import { VerificationLinkCommand } from './verification-link.command';

/**
 * Registers the library's commands in a nest-commander application.
 *
 * `svc:secret` and `svc:keygen` need no application and run without a valid configuration. The other commands use the
 * data of an application: the one that {@link forApplication} opens, or the one that imports both this module and
 * `AuthModule`.
 *
 * @example CommandFactory.run(
 *   AuthConsoleModule.forApplication(() => NestFactory.createApplicationContext(AppModule)),
 * )
 * @publicApi
 */
@Module({
  providers: [Application, SecretCommand, KeygenCommand, ReleaseCommand, PruneCommand, VerificationLinkCommand],
})
export class AuthConsoleModule {
  /** @param open starts the application. The commands that need it call this function, and close the application */
  static forApplication(open: OpensApplication): DynamicModule {
    return { module: AuthConsoleModule, providers: [{ provide: OPENS_APPLICATION, useValue: open }] };
  }
}
