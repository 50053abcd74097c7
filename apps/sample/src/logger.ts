import { ConsoleLogger, type LogLevel, type LoggerService } from '@nestjs/common';

/** From the most to the fewest lines. */
const LEVELS: readonly LogLevel[] = ['verbose', 'debug', 'log', 'warn', 'error', 'fatal'];

/** The parts of Nest that log a line for each module and each route at the start. */
const STARTUP = ['InstanceLoader', 'NestApplication', 'NestFactory', 'RouterExplorer', 'RoutesResolver'];

class WithoutStartup extends ConsoleLogger {
  override log(message: unknown, ...more: unknown[]): void {
    if (!STARTUP.includes(String(more.at(-1)))) super.log(message, ...more);
  }
}

/**
 * The logger of the sample.
 *
 * @param level the lowest level that is logged: `LOG_LEVEL`. Without it, everything from `log` up is logged, except the
 * modules and routes at the start
 * @throws Error if there is no such level
 */
export function sampleLogger(level: string | undefined): LoggerService {
  const logged = LEVELS.slice(LEVELS.indexOf('log'));
  if (!level) return new WithoutStartup({ logLevels: logged });
  const lowest = LEVELS.indexOf(level as LogLevel);
  if (lowest < 0) throw new Error(`LOG_LEVEL is "${level}". Set it to one of ${LEVELS.join(', ')}.`);
  return new ConsoleLogger({ logLevels: LEVELS.slice(lowest) });
}
