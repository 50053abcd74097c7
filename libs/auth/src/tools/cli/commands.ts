import { existsSync } from 'node:fs';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CommandRefused, endProcess, ignoreClosedPipes, printFailure } from '../console/command-error';
import { makeSecret } from '../console/env-file';
import { keygen } from '../console/keygen';
import { doctor } from './doctor';
import { init } from './init';
import { manifestOfLibrary } from './manifest';

type Values = Readonly<Record<string, string | boolean | undefined>>;

interface CliCommand {
  /** The effect of the command and of its options. */
  readonly help: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** The exit code after a refusal. */
  readonly refused: number;
  /** Whether the command takes a file. */
  readonly takesFile?: boolean;
  /** @returns the exit code, if it is not 0 */
  run(values: Values, file?: string): Promise<number | void>;
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

const COMMANDS: Readonly<Record<string, CliCommand>> = {
  secret: {
    help: `
  secret             write a new SVC_SECRET to .env
    --show             print the secret and write nothing
    --guard <name>     the secret of an extra guard: SVC_{NAME}_SECRET
    --force            overwrite a secret without a question
    --env <path>       the file to write to (.env)
`,
    options: { show: flag, guard: text, force: { ...flag, short: 'f' }, env: text },
    refused: 1,
    run: (values) => makeSecret(values),
  },
  keygen: {
    help: `
  keygen             print a new key pair and its env lines; nothing is written
    --algorithm <name> ES256 or RS256 (ES256)
    --kid <kid>        the name of the key (a random one)
    --rotate           also print the steps to replace the running key
`,
    options: { algorithm: text, kid: text, rotate: flag },
    refused: 1,
    run: async (values) => {
      // The running key of --rotate.
      loadEnvironment();
      process.stdout.write(keygen(values));
    },
  },
  doctor: {
    help: `
  doctor [file]      check the options, the keys and the stores of an application
    file               the compiled root module, or a file that exports the options of AuthModule
                       (dist/app.module.js, if it exists; otherwise the environment only)
    --export <name>    the export of the file (AppModule, the default export, or the only module)
    --url <url>        also compare the key set that the running application publishes
    --env <path>       variables that are not set are read from this file (.env, if it exists)
    --json             print the result as JSON
                       exits with 0 if all is well, 1 for warnings, 2 for errors
`,
    options: { export: text, url: text, json: flag, env: text },
    refused: 2,
    takesFile: true,
    run: async (values, file) => {
      loadEnvironment(values.env as string | undefined);
      return doctor({ ...values, file } as Parameters<typeof doctor>[0]);
    },
  },
  init: {
    help: `
  init               add the module, a user table and the settings to a new Nest application
    --dry-run          print the changes and write nothing
    --env <path>       the env file (.env)
`,
    options: { 'dry-run': flag, env: text },
    refused: 1,
    run: async (values) =>
      init({ isDryRun: values['dry-run'] === true, envFile: (values.env as string | undefined) || '.env' }),
  },
};

/** The commands of `AuthConsoleModule`, without those that are also commands of `npx svc-auth`. */
const ON_DATA = `
Commands on the data of your application, which start it:

  svc:migrate        create or change the tables of the library on the option pool; --sql prints the statements
  svc:release <subject>
                     release a locked account
  svc:prune          delete rows that are of no more use
  svc:verification-link <identifier>
                     mail an account another link to verify its email address

  They are part of the package nest-commander, and need a file of your own, src/console.ts:

    import { NestFactory } from '@nestjs/core';
    import { AuthConsoleModule } from '@svc/auth/console';
    import { AppModule } from './app.module.js';

    void AuthConsoleModule.run(() => NestFactory.createApplicationContext(AppModule, { abortOnError: false }));

  npm install nest-commander
  npx nest start --entryFile console -- svc:prune    or, after a build: node dist/console.js svc:prune
  npx nest start --entryFile console -- svc:release --help
`;

const HELP = `Usage: npx svc-auth <command> [options]
${Object.values(COMMANDS)
  .map(({ help }) => help)
  .join('')}
  <command> --help   print the options of one command
  --version          print the version of @svc/auth
${ON_DATA}`;

const helpOn = (name: string, { help, takesFile }: CliCommand): string =>
  `Usage: npx svc-auth ${name}${takesFile ? ' [file]' : ''} [options]\n${help}`;

/** Reads the variables of an env file that are not set. @throws CommandRefused if a named file does not exist */
function loadEnvironment(path?: string): void {
  if (path !== undefined && !existsSync(path)) throw new CommandRefused(`There is no env file ${path}.`);
  if (existsSync(path ?? '.env')) process.loadEnvFile(path ?? '.env');
}

/** Runs a command of `npx svc-auth`, prints its error, and ends the process. */
export async function runCli(args: readonly string[]): Promise<void> {
  ignoreClosedPipes();
  const [name = '--help', ...others] = args;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (['help', '--help', '-h'].includes(name)) {
    process.stdout.write(HELP);
  } else if (['--version', '-v'].includes(name)) {
    process.stdout.write(`${manifestOfLibrary().version}\n`);
  } else if (command && others.some((one) => one === '--help' || one === '-h')) {
    process.stdout.write(helpOn(name, command));
  } else if (command) {
    // A command that does not end is a failure, too: Node exits when nothing is left to wait for.
    process.exitCode = command.refused;
    try {
      process.exitCode = (await command.run(...argumentsOf(command, others))) ?? 0;
    } catch (error) {
      printFailure(error as Error);
      process.exitCode = command.refused;
    }
  } else {
    printFailure(new CommandRefused(`"${name}" is no command of svc-auth.\n\n${HELP}`));
  }
  await endProcess();
}

function argumentsOf({ options, takesFile = false }: CliCommand, args: string[]): [Values, string | undefined] {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: takesFile });
  if (positionals.length > 1) throw new CommandRefused(`One file is expected, and not: ${positionals.join(' ')}`);
  return [values as Values, positionals[0]];
}
