import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { startApplication } from './application';
import { isProduction } from './dev/development';
import { stopWithParent } from './dev/stop-with-parent';
import { welcome } from './dev/welcome';
import { readEnvironment } from './environment';
import { requireFreePort } from './free-port';

async function main(): Promise<void> {
  const environment = readEnvironment();
  await requireFreePort(environment.port, environment.host);
  const stop = await startApplication(environment, { logger: environment.logger });
  if (isProduction()) new Logger('Sample').log(`listening on port ${environment.port}`);
  else process.stdout.write(`${welcome(environment)}\n`);

  const shutDown = async (): Promise<void> => {
    await stop();
    process.exit(0);
  };
  process.once('SIGINT', shutDown).once('SIGTERM', shutDown);
  if (process.env.npm_lifecycle_event) stopWithParent(shutDown);
}

main().catch((error: Error) => {
  new Logger('Sample').error(error.message);
  process.exit(1);
});
