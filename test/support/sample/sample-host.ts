import { startApplication } from '../../../apps/sample/src/application';
import { readEnvironment } from '../../../apps/sample/src/environment';

let stop = async (): Promise<void> => undefined;

// Each message stops the running application and starts another one if the message contains settings.
process.on('message', async (start: { env: Record<string, string>; args: string[] } | 'stop') => {
  await stop();
  stop = async () => undefined;
  if (start === 'stop') return process.send!({});
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, start.env);
  try {
    const environment = readEnvironment(process.env, start.args);
    const logger = start.env.LOG_LEVEL !== undefined ? environment.logger : false;
    stop = await startApplication(environment, { logger, abortOnError: false });
    process.send!({});
  } catch (error) {
    process.send!({ refusal: (error as Error).message });
  }
});

process.once('disconnect', () => process.exit());
