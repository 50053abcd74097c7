import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { Command, CommandFactory, CommandRunner, Option } from 'nest-commander';
import { type CommandDeclaration, type Given, endProcess, ignoreClosedPipes, printFailure, reported } from './command';
import { Application, OPENS_APPLICATION, type OpensApplication } from './application';
import { DATA_COMMANDS } from './data-commands';
import { SECRET } from './env-file';
import { KEYGEN } from './keygen';

/** Makes the class with which nest-commander runs a command. */
function nestCommand(name: string, declaration: CommandDeclaration<[Application]>): Type<CommandRunner> {
  const { description, arguments: expected = [], options = {} } = declaration;
  const ofArguments = expected.length > 0 && {
    arguments: expected.map((one) => `<${one.name}>`).join(' '),
    argsDescription: Object.fromEntries(expected.map((one) => [one.name, one.description])),
  };

  @Command({ name: `svc:${name}`, description, ...ofArguments })
  class DeclaredCommand extends CommandRunner {
    constructor(private readonly application: Application) {
      super();
    }

    run(passed: string[], given: Given = {}): Promise<void> {
      const named = Object.fromEntries(expected.map(({ name: argument }, index) => [argument, passed[index]]));
      return reported(async () => void (await declaration.run({ ...given, ...named }, this.application)));
    }
  }
  // nest-commander finds the options of a command by the name of its class.
  Object.defineProperty(DeclaredCommand, 'name', { value: name });
  for (const [flags, text] of Object.entries(options)) {
    const method = { value: (value: string) => value };
    Object.defineProperty(DeclaredCommand.prototype, flags, method);
    Option({ flags, description: text })(DeclaredCommand.prototype, flags, method);
  }
  return DeclaredCommand;
}

const COMMANDS = { secret: SECRET, keygen: KEYGEN, ...DATA_COMMANDS };

/**
 * Registers the library's commands in a nest-commander application.
 *
 * `svc:secret`, `svc:keygen` and `svc:migrate --sql` need no application and run without a valid configuration. The other commands use the
 * data of an application: the one that {@link forApplication} opens, or the one that imports both this module and
 * `AuthModule`.
 *
 * @example void AuthConsoleModule.run(() => NestFactory.createApplicationContext(AppModule, { abortOnError: false }))
 * @publicApi
 */
@Module({
  providers: [Application, ...Object.entries(COMMANDS).map(([name, declaration]) => nestCommand(name, declaration))],
})
export class AuthConsoleModule {
  /**
   * Runs the command in the arguments of the process, prints its error, and ends the process: with the exit code 0, or 1
   * after a refusal or an error. Also if the application leaves a connection or a timer open.
   *
   * @param open starts the application, as for {@link forApplication}
   */
  static async run(open: OpensApplication): Promise<void> {
    ignoreClosedPipes();
    try {
      await CommandFactory.run(AuthConsoleModule.forApplication(open), {
        logger: ['warn', 'error'],
        serviceErrorHandler: printFailure,
      });
    } catch (error) {
      printFailure(error as Error);
    }
    await endProcess();
  }

  /**
   * For an application of nest-commander with further commands. It ends only when your application has closed everything
   * that it opened: a Redis client of its own, for example, in `onApplicationShutdown`.
   *
   * @param open starts the application. The commands that need it call this function, and close the application
   */
  static forApplication(open: OpensApplication): DynamicModule {
    return { module: AuthConsoleModule, providers: [{ provide: OPENS_APPLICATION, useValue: open }] };
  }
}
