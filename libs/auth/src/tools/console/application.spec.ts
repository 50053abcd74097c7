import { closed } from './application';

describe('the end of a command', () => {
  let written: string;

  beforeEach(() => {
    written = '';
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((written += String(text))));
  });

  it('waits for the application to close', async () => {
    let isClosed = false;
    await closed({ close: async () => void (isClosed = true) });
    expect([isClosed, written]).toEqual([true, '']);
  });

  it('does not wait without a limit for one that never closes, and says so', async () => {
    await closed({ close: () => new Promise(() => undefined) }, 10);
    expect(written).toBe('The application did not close within 0.01 seconds.\n');
  });

  it('is the error of an application that cannot close', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    await expect(closed({ close: () => Promise.reject(new Error('a hook failed')) })).rejects.toThrow('a hook failed');
    // A timer that is left would keep the process of the command running.
    expect(timers()).toBe(before);
  });
});
