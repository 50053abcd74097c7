import { within } from './http.js';
import { openNative } from './native.testkit.js';

describe('the time of a request where there is no AbortSignal.any', () => {
  let close: () => void;
  beforeEach(() => {
    close = openNative();
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
    close();
  });

  /** A signal of a caller, and how many listeners it has. */
  const counted = () => {
    const controller = new AbortController();
    const { signal } = controller;
    const listeners = new Set<unknown>();
    const counts = { controller, signal, listeners };
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (type: string, listener: never) => {
      listeners.add(listener);
      add(type, listener);
    };
    signal.removeEventListener = (type: string, listener: never) => {
      listeners.delete(listener);
      remove(type, listener);
    };
    return counts;
  };

  it('leaves no listener at the signal of the caller after the time', () => {
    const caller = counted();
    const signal = within(15_000, caller.signal);
    expect([caller.listeners.size, signal.aborted]).toEqual([1, false]);
    jest.advanceTimersByTime(15_000);
    expect([caller.listeners.size, signal.aborted]).toEqual([0, true]);
  });

  it('leaves neither a timer nor a listener after the caller has aborted', () => {
    const caller = counted();
    const signal = within(15_000, caller.signal);
    caller.controller.abort();
    expect([caller.listeners.size, signal.aborted, jest.getTimerCount()]).toEqual([0, true, 0]);
  });

  it('is over at once if the caller had aborted before', () => {
    const caller = counted();
    caller.controller.abort();
    expect(within(15_000, caller.signal).aborted).toBe(true);
    expect([caller.listeners.size, jest.getTimerCount()]).toEqual([0, 0]);
  });
});
