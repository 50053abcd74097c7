import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { merge, of, take } from 'rxjs';
import { TestApp } from '../support/app';

/** Asks for the answer, and takes one of its own in its place. */
class Impatient implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    const asked = context.switchToHttp().getRequest().url === '/auth/login';
    return asked ? merge(next.handle(), of({ cached: true })).pipe(take(1)) : next.handle();
  }
}

describe('an interceptor of the host that wants no answer after all', () => {
  let t: TestApp;

  beforeAll(async () => {
    t = await TestApp.start({ prepare: (app) => app.useGlobalInterceptors(new Impatient()) });
    await t.person('ada@example.com');
  });
  afterAll(() => t.stop());

  it('leaves no rejection that nobody handles', async () => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    const { body } = await t.login('ada@example.com', 'wrong');
    expect(body).toEqual({ cached: true });
    await new Promise((turn) => setTimeout(turn, 200));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});
