import { AuthenticatorPage, describeWithBrowser } from '../support/browser';
import { createEmptyDatabase } from '../support/database';
import { DEMO } from '../../apps/sample/src/users/seed';
import { Sample } from '../support/sample';

describeWithBrowser('the passkeys page of the sample, in a real browser', () => {
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
  let sample: Sample;
  let authenticator: AuthenticatorPage;
  let errors: string[];

  beforeAll(async () => {
    database = await createEmptyDatabase();
    sample = await (await Sample.launch({ DATABASE_URL: database.url })).ready();
    authenticator = await AuthenticatorPage.open(`${sample.url.replace('127.0.0.1', 'localhost')}/passkeys-demo`);
    errors = [];
    authenticator.page.on('pageerror', ({ message }) => errors.push(message));
    authenticator.page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  }, 60_000);
  afterAll(async () => {
    await authenticator?.close();
    await sample?.stop();
    await database?.drop();
  });

  const button = (name: string) => authenticator.page.getByRole('button', { name, exact: true });
  const status = (text: string) => authenticator.page.getByRole('status').getByText(text).waitFor();
  const signedIn = (how: string) => authenticator.page.getByText(`Signed in as ${DEMO.user} by ${how}.`).waitFor();
  const names = () => authenticator.page.getByRole('listitem').getByLabel('Name').all();

  async function signOut(): Promise<void> {
    await button('Sign out').click();
    await status('Signed out.');
  }

  it('signs in with the password, and adds no passkey before that was confirmed', async () => {
    await authenticator.page.getByLabel('Email').fill(DEMO.user);
    await authenticator.page.getByLabel('Password').first().fill(DEMO.password);
    await button('Sign in').click();
    await signedIn('pwd');
    await button('Add a passkey').click();
    await status('Please confirm your identity to continue.');
    expect(await authenticator.held()).toEqual([]);
  });

  it('adds one after that', async () => {
    await authenticator.page.locator('#password-confirm').getByLabel('Password').fill(DEMO.password);
    await button('Confirm').click();
    await status('Confirmed.');
    await authenticator.page.locator('#add').getByLabel('Name').fill('Laptop');
    await authenticator.touch(async () => {
      await button('Add a passkey').click();
      await status('Added.');
    });
    expect(await authenticator.held()).toMatchObject([{ rpId: 'localhost' }]);
    expect(await names()).toHaveLength(1);
  });

  it('signs in by autofill, without a name or a click', async () => {
    await authenticator.touch(async () => {
      await button('Sign out').click();
      await signedIn('webauthn');
    });
  });

  it('signs in by button', async () => {
    // Autofill, which begins at some moment after the sign-out, would be quicker than the click.
    await authenticator.page.evaluate('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
    await signOut();
    await authenticator.touch(async () => {
      await button('Sign in with a passkey').click();
      await signedIn('webauthn');
    });
  });

  it('confirms by passkey, and then renames and deletes', async () => {
    await button('Delete').click();
    await status('Please confirm your identity to continue.');
    await authenticator.touch(async () => {
      await button('Confirm with a passkey').click();
      await status('Confirmed.');
    });
    const [name] = await names();
    await name!.fill('Old laptop');
    await button('Rename').click();
    await status('Renamed.');
    expect(await (await names())[0]!.inputValue()).toBe('Old laptop');
    await button('Delete').click();
    await status('Deleted.');
    expect(await names()).toEqual([]);
  });

  it('has the authenticator forget what was deleted', async () => {
    expect(await authenticator.held()).toEqual([]);
  });

  it('breaks no rule of its own', () => expect(errors.filter((text) => !/status of (423|422)/.test(text))).toEqual([]));
});
