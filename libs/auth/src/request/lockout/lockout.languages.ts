import type { InEachLanguage, WithMails } from '../../foundation/languages/catalogue';

export const lockoutLanguages: InEachLanguage<WithMails<'accountLocked'>> = {
  en: {
    mails: {
      accountLocked: {
        subject: 'Your {appName} account was locked',
        preheader: 'Was this not you? Choose a new password as soon as you can sign in again.',
        title: 'Your account was locked',
        body: 'Too many wrong passwords or codes were entered for your account at {appName}, so the account was locked.\n\nIf the lock does not end after some time, please contact support.',
        note: 'If you did not make these attempts, another person is trying to get into your account. Choose a new password as soon as you can sign in again.',
      },
    },
  },
  de: {
    mails: {
      accountLocked: {
        subject: 'Ihr Konto bei {appName} wurde gesperrt',
        preheader: 'Das waren nicht Sie? Wählen Sie ein neues Passwort, sobald Sie sich wieder anmelden können.',
        title: 'Ihr Konto wurde gesperrt',
        body: 'Für Ihr Konto bei {appName} wurden zu viele falsche Passwörter oder Codes eingegeben. Das Konto wurde deshalb gesperrt.\n\nWenn die Sperre nach einiger Zeit nicht endet, wenden Sie sich bitte an den Support.',
        note: 'Wenn diese Versuche nicht von Ihnen stammen, versucht eine andere Person, auf Ihr Konto zuzugreifen. Wählen Sie ein neues Passwort, sobald Sie sich wieder anmelden können.',
      },
    },
  },
  fr: {
    mails: {
      accountLocked: {
        subject: 'Votre compte {appName} a été verrouillé',
        preheader: 'Ce n’était pas vous ? Choisissez un nouveau mot de passe dès que vous pourrez vous reconnecter.',
        title: 'Votre compte a été verrouillé',
        body: 'Trop de mots de passe ou de codes incorrects ont été saisis pour votre compte {appName}. Le compte a donc été verrouillé.\n\nSi le verrouillage ne prend pas fin au bout d’un certain temps, veuillez contacter l’assistance.',
        note: 'Si vous n’êtes pas à l’origine de ces tentatives, une autre personne essaie d’accéder à votre compte. Choisissez un nouveau mot de passe dès que vous pourrez vous reconnecter.',
      },
    },
  },
  es: {
    mails: {
      accountLocked: {
        subject: 'Se ha bloqueado su cuenta de {appName}',
        preheader: '¿No ha sido usted? Elija una contraseña nueva en cuanto pueda volver a iniciar sesión.',
        title: 'Se ha bloqueado su cuenta',
        body: 'Se han introducido demasiadas contraseñas o códigos incorrectos para su cuenta de {appName}, por lo que se ha bloqueado la cuenta.\n\nSi el bloqueo no termina pasado un tiempo, póngase en contacto con el servicio de asistencia.',
        note: 'Si estos intentos no son suyos, otra persona está intentando acceder a su cuenta. Elija una contraseña nueva en cuanto pueda volver a iniciar sesión.',
      },
    },
  },
  pt: {
    mails: {
      accountLocked: {
        subject: 'Sua conta em {appName} foi bloqueada',
        preheader: 'Não foi você? Escolha uma nova senha assim que conseguir entrar novamente.',
        title: 'Sua conta foi bloqueada',
        body: 'Muitas senhas ou códigos incorretos foram digitados para sua conta em {appName}; por isso, a conta foi bloqueada.\n\nSe o bloqueio não terminar depois de algum tempo, entre em contato com o suporte.',
        note: 'Se essas tentativas não foram suas, outra pessoa está tentando acessar sua conta. Escolha uma nova senha assim que conseguir entrar novamente.',
      },
    },
  },
  ja: {
    mails: {
      accountLocked: {
        subject: '{appName} のアカウントがロックされました',
        preheader: 'お心当たりがない場合は、ログインできるようになり次第、新しいパスワードを設定してください。',
        title: 'アカウントがロックされました',
        body: '{appName} のアカウントに対して誤ったパスワードまたはコードが何度も入力されたため、アカウントがロックされました。\n\nしばらくしてもロックが解除されない場合は、サポートまでお問い合わせください。',
        note: 'お心当たりがない場合は、第三者がお客様のアカウントにアクセスしようとしています。ログインできるようになり次第、新しいパスワードを設定してください。',
      },
    },
  },
};
