import { Logger } from '@nestjs/common';
import type { EventEmitter } from 'node:events';
import { setImmediate as tick } from 'node:timers/promises';
import { AuthEvents } from './auth-events';

class SessionStarted {
  constructor(readonly id: number) {}
}
class SessionEnded {}

describe('an event', () => {
  let events: AuthEvents;
  let logged: jest.SpyInstance;

  beforeEach(() => {
    events = new AuthEvents();
    logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
  });

  it('reaches every listener of its class, in their order, as the same object', () => {
    const heard: [string, SessionStarted][] = [];
    events.on(SessionStarted, (event) => heard.push(['a', event]));
    events.on(SessionStarted, (event) => heard.push(['b', event]));
    events.on(SessionEnded, () => heard.push(['c', new SessionStarted(0)]));
    const event = new SessionStarted(7);
    events.emit(event);
    expect(heard.map(([name]) => name)).toEqual(['a', 'b']);
    for (const [, same] of heard) expect(same).toBe(event);
  });

  it('without listeners is nothing', () => expect(() => events.emit(new SessionEnded())).not.toThrow());

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('broken'))],
    [
      'throws nothing',
      () => {
        throw undefined;
      },
    ],
  ])('is not stopped by a listener that %s, which is logged', async (_, broken) => {
    const heard = jest.fn();
    const unhandled = jest.fn();
    process.once('unhandledRejection', unhandled);
    events.on(SessionEnded, broken);
    events.on(SessionEnded, heard);
    events.emit(new SessionEnded());
    await tick();
    expect(heard).toHaveBeenCalledTimes(1);
    expect(unhandled).not.toHaveBeenCalled();
    expect(logged).toHaveBeenCalledTimes(1);
    expect(logged.mock.calls[0][0]).toBe('a listener of SessionEnded failed');
    process.off('unhandledRejection', unhandled);
  });

  it('does not wait for its listeners', async () => {
    let ended = false;
    events.on(SessionEnded, async () => {
      await tick();
      ended = true;
    });
    events.emit(new SessionEnded());
    expect(ended).toBe(false);
    await tick();
    await tick();
    expect(ended).toBe(true);
  });

  it('no longer reaches a listener that was taken off, and still reaches the others', () => {
    const [one, other] = [jest.fn(), jest.fn()];
    const off = events.on(SessionEnded, one);
    events.on(SessionEnded, other);
    events.emit(new SessionEnded());
    off();
    off();
    events.emit(new SessionEnded());
    expect([one.mock.calls.length, other.mock.calls.length]).toEqual([1, 2]);
  });

  it('reaches all listeners although one of them takes itself off', () => {
    const heard = jest.fn();
    const off: () => void = events.on(SessionEnded, () => off());
    events.on(SessionEnded, heard);
    events.emit(new SessionEnded());
    expect(heard).toHaveBeenCalledTimes(1);
  });

  it('may have any number of listeners without a warning', () => {
    const { emitter } = events as unknown as { emitter: EventEmitter };
    expect(emitter.getMaxListeners()).toBe(0);
  });

  it('is forwarded under the name of its class, after the listeners, and a broken sink changes nothing', () => {
    const order: string[] = [];
    const event = new SessionStarted(7);
    events.forwardTo({
      emit: (name, same) => {
        order.push(`${name} ${same === event}`);
        throw new Error('broken');
      },
    });
    events.on(SessionStarted, () => order.push('listener'));
    expect(() => events.emit(event)).not.toThrow();
    expect(order).toEqual(['listener', 'SessionStarted true']);
    expect(logged).toHaveBeenCalledTimes(1);
  });

  it('that may be objected to is waited for, one listener after the other, and then the sink', async () => {
    const order: string[] = [];
    const slow = (name: string) => async () => {
      await tick();
      order.push(name);
    };
    events.on(SessionEnded, slow('one'));
    events.on(SessionEnded, slow('two'));
    events.forwardTo({ emit: () => order.push('not waited for'), emitAsync: slow('sink') });
    await events.announce(new SessionEnded());
    expect(order).toEqual(['one', 'two', 'sink']);
  });

  it('that may be objected to is told to a sink that cannot wait, which may object at once', async () => {
    const told: unknown[] = [];
    const sink = {
      emit(name: string) {
        told.push([name, this === sink]);
        if (told.length > 1) throw new SyntaxError('no');
      },
    };
    events.forwardTo(sink);
    await events.announce(new SessionEnded());
    await expect(events.announce(new SessionEnded())).rejects.toThrow(SyntaxError);
    expect(told).toEqual([1, 2].map(() => ['SessionEnded', true]));
  });

  it.each<[string, () => unknown]>([
    ['throws', () => JSON.parse('no')],
    ['rejects', async () => JSON.parse('no')],
  ])('that may be objected to is objected to by a listener that %s, and reaches no other', async (_, listener) => {
    const other = jest.fn();
    events.on(SessionEnded, listener);
    events.on(SessionEnded, other);
    await expect(events.announce(new SessionEnded())).rejects.toThrow(SyntaxError);
    expect(other).not.toHaveBeenCalled();
  });
});
