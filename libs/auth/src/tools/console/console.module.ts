import { type DynamicModule, Module } from '@nestjs/common';
import { Application, OPENS_APPLICATION, type OpensApplication } from './application';
import { KeygenCommand } from './keygen.command';
import { PruneCommand } from './prune.command';
import { ReleaseCommand } from './release.command';
import { SecretCommand } from './secret.command';
import { VerificationLinkCommand } from './verification-link.command';

/**
 * The library's commands, for a nest-commander application.
 *
 * `svc:secret` and `svc:keygen` need no application and run before there is a working configuration.
 * The others act on its data: {@link forApplication} names it, or it is the one that imports this module beside
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
  /** @param open starts the application; called by the commands that need it, which close it again */
  static forApplication(open: OpensApplication): DynamicModule {
    return { module: AuthConsoleModule, providers: [{ provide: OPENS_APPLICATION, useValue: open }] };
  }
}
