import { Module } from '@nestjs/common';
import { KeygenCommand } from './keygen.command';
import { SecretCommand } from './secret.command';

/**
 * The library's commands, for a nest-commander application.
 *
 * @example CommandFactory.run(ConsoleModule) // of a module that imports AuthConsoleModule
 * @publicApi
 */
@Module({ providers: [SecretCommand, KeygenCommand] })
export class AuthConsoleModule {}
