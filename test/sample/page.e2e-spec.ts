import { describeWithBrowser } from '../support/browser';
import { SampleVisit } from '../support/sample-page';

// Everything else about the page is in `*.browsers-spec.ts`, which `npm run test:browsers` runs.
describeWithBrowser('the page of the sample', () => {
  const visit = SampleVisit.forFile();
  visit.forTests();

  it('signs in, renews the session, and signs out, without an error in the console', async () => {
    const tab = await visit.tab();
    await tab.presses('Use the demo account');
    await tab.sees('Overview');
    expect((await tab.payload()).amr).toEqual(['pwd']);
    await tab.presses('Renew now');
    await tab.lives('Renewed');
    await tab.signsOut();
    expect(visit.complaints).toEqual([]);
  });
});
