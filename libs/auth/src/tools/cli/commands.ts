import { existsSync } from 'node:fs';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type CommandDeclaration, type Given, print } from '../console/command';
import { CommandRefused, endProcess, ignoreClosedPipes, printFailure } from '../console/command';
import { DATA_COMMANDS } from '../console/data-commands';
import { SECRET } from '../console/env-file';
import { KEYGEN } from '../console/keygen';
import { type DoctorArguments, doctor } from './doctor';
import { init, manifestOfLibrary } from './init';

const COMMANDS: Readonly<Record<string, CommandDeclaration>> = {
  secret: SECRET,
  keygen: {
    ...KEYGEN,
    run: async (given) => {
      // The running key of --rotate.
      loadEnvironment();
      return KEYGEN.run(given);
    },
  },
  doctor: {
    description:
      'check the options, the keys and the stores of an application\nexits with 0 if all is well, 1 for warnings, 2 for errors',
    arguments: [
      {
        name: 'file',
        description:
          'the compiled root module, or a file that exports the options of AuthModule\n' +
          '(dist/app.module.js, if it exists; otherwise the environment only)',
      },
    ],
    options: {
      '--export <name>': 'the export of the file (AppModule, the default export, or the only module)',
      '--url <url>': 'also compare the key set that the running application publishes',
      '--env <path>': 'variables that are not set are read from this file (.env, if it exists)',
      '--json': 'print the result as JSON',
    },
    run: async ({ env, ...given }) => {
      loadEnvironment(env as string | undefined);
      return doctor(given as DoctorArguments);
    },
  },
  init: {
    description: 'add the module, a user table and the settings to a new Nest application',
    options: { '--dry-run': 'print the changes and write nothing', '--env <path>': 'the env file (.env)' },
    run: async ({ 'dry-run': isDryRun = false, env }) =>
      init({ isDryRun: Boolean(isDryRun), envFile: String(env || '.env') }),
  },
};

/** The exit code of a command that fails. 1 of the doctor stands for warnings. */
const failureOf = (name: string): number => (name === 'doctor' ? 2 : 1);

/** A line of the help: a name, and what it is. */
function line(indent: number, name: string, text: string): string {
  const start = ' '.repeat(indent + 19);
  const head = name.length < 19 ? name.padEnd(19) : `${name}\n${start}`;
  return `${' '.repeat(indent)}${head}${text.replaceAll('\n', `\n${start}`)}\n`;
}

const helpOn = (
  name: string,
  { description, arguments: expected = [], options = {} }: Omit<CommandDeclaration, 'run'>,
): string =>
  [
    line(2, name, description),
    ...expected.map((one) => line(4, one.name, one.description)),
    ...Object.entries(options).map(([flags, text]) => line(4, flags, text)),
  ].join('');

const usage = (name: string): string => (COMMANDS[name]?.arguments ? `${name} [file]` : name);

/** The commands of `AuthConsoleModule`, without those that are also commands of `npx svc-auth`. */
const ON_DATA = `
Commands on the data of your application, which start it:

${Object.entries(DATA_COMMANDS)
  .map(([name, command]) =>
    helpOn(['svc:' + name, ...(command.arguments ?? []).map((one) => `<${one.name}>`)].join(' '), command),
  )
  .join('')}
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

${Object.entries(COMMANDS)
  .map(([name, command]) => helpOn(usage(name), command))
  .join('\n')}
  <command> --help   print the options of one command
  --version          print the version of @svc/auth
${ON_DATA}`;

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
    print(HELP);
  } else if (['--version', '-v'].includes(name)) {
    print(`${manifestOfLibrary().version}\n`);
  } else if (command && others.some((one) => one === '--help' || one === '-h')) {
    print(`Usage: npx svc-auth ${usage(name)} [options]\n\n${helpOn(usage(name), command)}`);
  } else if (command) {
    // A command that does not end is a failure, too: Node exits when nothing is left to wait for.
    process.exitCode = failureOf(name);
    try {
      process.exitCode = ((await command.run(givenTo(command, others))) as number | undefined) ?? 0;
    } catch (error) {
      printFailure(error as Error);
      process.exitCode = failureOf(name);
    }
  } else {
    printFailure(new CommandRefused(`"${name}" is no command of svc-auth.\n\n${HELP}`));
  }
  await endProcess();
}

function givenTo({ options = {}, arguments: [expected] = [] }: CommandDeclaration, args: string[]): Given {
  const flags = Object.keys(options).map(
    (text) => /^(?:-(?<short>\w), )?--(?<name>[\w-]+)(?<value>.*)$/.exec(text)!.groups!,
  );
  const known: ParseArgsConfig['options'] = Object.fromEntries(
    flags.map(({ short, name, value }) => [name, { type: value ? 'string' : 'boolean', ...(short && { short }) }]),
  );
  const { values, positionals } = parseArgs({ args, options: known, allowPositionals: expected !== undefined });
  if (positionals.length > 1) throw new CommandRefused(`One file is expected, and not: ${positionals.join(' ')}`);
  return { ...(values as Given), ...(expected && { [expected.name]: positionals[0] }) };
}
