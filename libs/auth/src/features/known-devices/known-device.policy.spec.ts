import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KNOWN_DEVICE, deviceVerdict, reportVerdict } from './known-device.policy';

describe('the device of a sign-in', () => {
  it.each([
    [true, true, 'new', true],
    // The first device of a user.
    [true, false, 'new', false],
    // The mail about the first sign-in could not be sent.
    [false, true, 'known', true],
    [false, false, 'known', false],
  ])('created now: %s, mail due: %s: it is %s, and a mail is sent: %s', (isNew, isMailDue, device, mails) =>
    expect(deviceVerdict({ isNew, isMailDue })).toEqual({ device, mails }),
  );
});

describe('a link that reports a sign-in', () => {
  it.each([
    ['unknown', null, 'refuse'],
    ['valid', { isReported: false, isExpired: false }, 'perform'],
    ['used', { isReported: true, isExpired: false }, 'done'],
    ['expired', { isReported: false, isExpired: true }, 'refuse'],
    ['used and expired', { isReported: true, isExpired: true }, 'done'],
  ])('that is %s', (_, found, verdict) => expect(reportVerdict(found)).toBe(verdict));
});

describe('the states of a device', () => {
  it('a report is possible until it was made, also of a device that was forgotten', () => {
    const reportable = Object.entries(KNOWN_DEVICE).filter(([, steps]) => steps.report);
    expect(reportable.map(([state]) => state)).toEqual(['known', 'forgotten']);
    expect(KNOWN_DEVICE.reported).toEqual({});
  });

  it('only a known device is recognized', () => {
    const recognized = Object.entries(KNOWN_DEVICE).filter(([, steps]) => steps['sign in']);
    expect(recognized.map(([state]) => state)).toEqual(['known']);
  });

  it('are those of the diagram in the documentation', () => {
    const page = readFileSync(join(__dirname, '../../../../../docs/known-devices.md'), 'utf8');
    const drawn = [...page.matchAll(/^ {2}(\w+) --> (\w+) : (.+)$/gm)].map(([, from, to, step]) => [from, step, to]);
    const listed = Object.entries(KNOWN_DEVICE).flatMap(([from, steps]) =>
      Object.entries(steps).map(([step, to]) => [from, step, to]),
    );
    expect(drawn).toEqual(listed);
  });
});
