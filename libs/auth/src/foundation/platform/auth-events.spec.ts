import { Logger } from '@nestjs/common';
import type { EventEmitter } from 'node:events';
import { setImmediate as tick } from 'node:timers/promises';
import { BackgroundWork } from './deadline';
import { AuthEvents } from './auth-events';

class SessionStarted {
  constructor(readonly id: number) {}
}

class SessionEnded {}

describe('AuthEvents', () => {
  let events: AuthEvents;
  let logged: jest.SpyInstance;

  beforeEach(() => {
    events = new AuthEvents(new BackgroundWork());
    logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
  });

  it('passes the same event object to every listener of its class, in the order of registration', () => {
    const received: [string, SessionStarted][] = [];
    events.on(SessionStarted, (event) => received.push(['a', event]));
    events.on(SessionStarted, (event) => received.push(['b', event]));
    events.on(SessionEnded, () => received.push(['c', new SessionStarted(0)]));
    const event = new SessionStarted(7);
    events.emit(event);
    expect(received.map(([name]) => name)).toEqual(['a', 'b']);
    for (const [, same] of received) expect(same).toBe(event);
  });

  it('emits an event without listeners', () => expect(() => events.emit(new SessionEnded())).not.toThrow());

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
  ])('logs the error of a listener that %s, and calls the next listener', async (_, broken) => {
    const other = jest.fn();
    const unhandled = jest.fn();
    process.once('unhandledRejection', unhandled);
    events.on(SessionEnded, broken);
    events.on(SessionEnded, other);
    events.emit(new SessionEnded());
    await tick();
    expect(other).toHaveBeenCalledTimes(1);
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

  it('does not call a removed listener, and calls the others', () => {
    const [one, other] = [jest.fn(), jest.fn()];
    const off = events.on(SessionEnded, one);
    events.on(SessionEnded, other);
    events.emit(new SessionEnded());
    off();
    off();
    events.emit(new SessionEnded());
    expect([one.mock.calls.length, other.mock.calls.length]).toEqual([1, 2]);
  });

  it('calls all listeners when one of them removes itself', () => {
    const other = jest.fn();
    const off: () => void = events.on(SessionEnded, () => off());
    events.on(SessionEnded, other);
    events.emit(new SessionEnded());
    expect(other).toHaveBeenCalledTimes(1);
  });

  it('accepts any number of listeners without a warning', () => {
    const { emitter } = events as unknown as { emitter: EventEmitter };
    expect(emitter.getMaxListeners()).toBe(0);
  });

  it('forwards an event to the sink under its class name, after the listeners, and logs an error of the sink', () => {
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

  it('announces an event to one listener after the other and then to the sink, and waits for each', async () => {
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

  it('announces an event to a sink without emitAsync, and rejects when the sink throws', async () => {
    const emitted: unknown[] = [];
    const sink = {
      emit(name: string) {
        emitted.push([name, this === sink]);
        if (emitted.length > 1) throw new SyntaxError('no');
      },
    };
    events.forwardTo(sink);
    await events.announce(new SessionEnded());
    await expect(events.announce(new SessionEnded())).rejects.toThrow(SyntaxError);
    expect(emitted).toEqual([1, 2].map(() => ['SessionEnded', true]));
  });

  it.each<[string, () => unknown]>([
    ['throws', () => JSON.parse('no')],
    ['rejects', async () => JSON.parse('no')],
  ])('rejects an announced event when a listener %s, and calls no other listener', async (_, listener) => {
    const other = jest.fn();
    events.on(SessionEnded, listener);
    events.on(SessionEnded, other);
    await expect(events.announce(new SessionEnded())).rejects.toThrow(SyntaxError);
    expect(other).not.toHaveBeenCalled();
  });
});
