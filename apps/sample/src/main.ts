import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { startApplication } from './application';
import { stopWithParent } from './dev/stop-with-parent';
import { welcome } from './dev/welcome';
import { readEnvironment } from './environment';

async function main(): Promise<void> {
  const environment = readEnvironment();
  const stop = await startApplication(environment);
  new Logger('Sample').log(welcome(environment));

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
