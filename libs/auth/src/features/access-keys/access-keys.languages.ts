import type { texts } from '../../kit';
import { ACCESS_KEYS_MESSAGES } from './access-keys.texts';

export const accessKeysLanguages: texts.InEachLanguage<
  texts.WithMessages<keyof typeof ACCESS_KEYS_MESSAGES> &
    texts.WithMails<'accessKeyCreated' | 'accessKeyLeaked' | 'accessKeyNewNetwork'>
> = {
  en: {
    messages: ACCESS_KEYS_MESSAGES,
    mails: {
      accessKeyCreated: {
        subject: 'New access key for your {appName} account',
        title: 'An access key was created',
        body: 'An access key was created for your account at {appName}. A program can use it to act for you.',
      },
      accessKeyLeaked: {
        subject: '{appName}: an access key was found in public',
        title: 'An access key was revoked',
        body: 'An access key of your account at {appName} was found in a public place, so we revoked it. Create a new one where you need it, and keep it secret.',
      },
      accessKeyNewNetwork: {
        subject: '{appName}: access key used from a new network',
        title: 'An access key was used from a new network',
        body: 'An access key of your account at {appName} was used from a network that it was not used from before. If you do not know why, revoke the key.',
      },
    },
  },
  de: {
    messages: {
      'auth.too_many_keys': 'Sie haben bereits die größte Anzahl von Zugriffsschlüsseln. Widerrufen Sie zuerst einen.',
      'auth.key_abilities': 'Ein Zugriffsschlüssel kann nicht mehr als Sie.',
      'auth.key_expiry': 'Wählen Sie einen Ablauf in höchstens {days} Tagen.',
      'auth.key_networks': 'Das sind keine Netze. Verwenden Sie Adressen oder Netze wie 192.0.2.0/24.',
    },
    mails: {
      accessKeyCreated: {
        subject: 'Neuer Zugriffsschlüssel für Ihr Konto bei {appName}',
        title: 'Ein Zugriffsschlüssel wurde erstellt',
        body: 'Für Ihr Konto bei {appName} wurde ein Zugriffsschlüssel erstellt. Mit ihm kann ein Programm für Sie handeln.',
      },
      accessKeyLeaked: {
        subject: '{appName}: Zugriffsschlüssel öffentlich gefunden',
        title: 'Ein Zugriffsschlüssel wurde widerrufen',
        body: 'Ein Zugriffsschlüssel Ihres Kontos bei {appName} wurde an einem öffentlichen Ort gefunden. Wir haben ihn widerrufen. Erstellen Sie bei Bedarf einen neuen, und halten Sie ihn geheim.',
      },
      accessKeyNewNetwork: {
        subject: '{appName}: Zugriffsschlüssel in neuem Netz verwendet',
        title: 'Ein Zugriffsschlüssel wurde in einem neuen Netz verwendet',
        body: 'Ein Zugriffsschlüssel Ihres Kontos bei {appName} wurde in einem Netz verwendet, in dem er bisher nicht verwendet wurde. Wenn Sie den Grund nicht kennen, widerrufen Sie den Schlüssel.',
      },
    },
  },
  fr: {
    messages: {
      'auth.too_many_keys': 'Vous avez le nombre maximal de clés d’API. Révoquez-en une d’abord.',
      'auth.key_abilities': 'Une clé d’API ne peut pas faire plus que vous.',
      'auth.key_expiry': 'Choisissez une expiration dans {days} jours au plus.',
      'auth.key_networks': 'Ce ne sont pas des réseaux. Utilisez des adresses ou des réseaux comme 192.0.2.0/24.',
    },
    mails: {
      accessKeyCreated: {
        subject: 'Nouvelle clé d’API pour votre compte {appName}',
        title: 'Une clé d’API a été créée',
        body: 'Une clé d’API a été créée pour votre compte {appName}. Un programme peut l’utiliser pour agir en votre nom.',
      },
      accessKeyLeaked: {
        subject: '{appName} : clé d’API trouvée en public',
        title: 'Une clé d’API a été révoquée',
        body: 'Une clé d’API de votre compte {appName} a été trouvée dans un lieu public. Nous l’avons révoquée. Créez-en une nouvelle si nécessaire, et gardez-la secrète.',
      },
      accessKeyNewNetwork: {
        subject: '{appName} : clé d’API utilisée, nouveau réseau',
        title: 'Une clé d’API a été utilisée depuis un nouveau réseau',
        body: 'Une clé d’API de votre compte {appName} a été utilisée depuis un réseau inhabituel. Si vous ne savez pas pourquoi, révoquez la clé.',
      },
    },
  },
  es: {
    messages: {
      'auth.too_many_keys': 'Tiene el número máximo de claves de API. Revoque una primero.',
      'auth.key_abilities': 'Una clave de API no puede hacer más que usted.',
      'auth.key_expiry': 'Elija una caducidad de {days} días como máximo.',
      'auth.key_networks': 'No son redes. Use direcciones o redes como 192.0.2.0/24.',
    },
    mails: {
      accessKeyCreated: {
        subject: 'Nueva clave de API para su cuenta de {appName}',
        title: 'Se ha creado una clave de API',
        body: 'Se ha creado una clave de API para su cuenta de {appName}. Un programa puede usarla para actuar en su nombre.',
      },
      accessKeyLeaked: {
        subject: '{appName}: clave de API encontrada en público',
        title: 'Se ha revocado una clave de API',
        body: 'Se ha encontrado en un lugar público una clave de API de su cuenta de {appName}, y la hemos revocado. Cree una nueva si la necesita, y manténgala en secreto.',
      },
      accessKeyNewNetwork: {
        subject: '{appName}: clave de API usada desde otra red',
        title: 'Una clave de API se ha usado desde una red nueva',
        body: 'Una clave de API de su cuenta de {appName} se ha usado desde una red desde la que no se había usado antes. Si no sabe por qué, revoque la clave.',
      },
    },
  },
  pt: {
    messages: {
      'auth.too_many_keys': 'Você tem o número máximo de chaves de API. Revogue uma primeiro.',
      'auth.key_abilities': 'Uma chave de API não pode fazer mais do que você.',
      'auth.key_expiry': 'Escolha um prazo de no máximo {days} dias.',
      'auth.key_networks': 'Estas não são redes. Use endereços ou redes como 192.0.2.0/24.',
    },
    mails: {
      accessKeyCreated: {
        subject: 'Nova chave de API para sua conta em {appName}',
        title: 'Uma chave de API foi criada',
        body: 'Uma chave de API foi criada para sua conta em {appName}. Um programa pode usá-la para agir em seu nome.',
      },
      accessKeyLeaked: {
        subject: '{appName}: chave de API encontrada em público',
        title: 'Uma chave de API foi revogada',
        body: 'Uma chave de API da sua conta em {appName} foi encontrada em um lugar público, e nós a revogamos. Crie uma nova se precisar, e mantenha-a em segredo.',
      },
      accessKeyNewNetwork: {
        subject: '{appName}: chave de API usada em uma nova rede',
        title: 'Uma chave de API foi usada em uma nova rede',
        body: 'Uma chave de API da sua conta em {appName} foi usada em uma rede em que não havia sido usada antes. Se você não sabe o motivo, revogue a chave.',
      },
    },
  },
  ja: {
    messages: {
      'auth.too_many_keys': 'アクセスキーの数が上限に達しています。先に 1 つ無効にしてください。',
      'auth.key_abilities': 'アクセスキーに、お客様の権限を超える権限を与えることはできません。',
      'auth.key_expiry': '有効期限は {days} 日以内で指定してください。',
      'auth.key_networks':
        'ネットワークとして正しくありません。192.0.2.0/24 のようなアドレスまたはネットワークを入力してください。',
    },
    mails: {
      accessKeyCreated: {
        subject: '{appName} アカウントの新しいアクセスキー',
        title: 'アクセスキーが作成されました',
        body: '{appName} のアカウントにアクセスキーが作成されました。プログラムはこのキーを使って、お客様に代わって操作できます。',
      },
      accessKeyLeaked: {
        subject: '{appName} アカウントのアクセスキーが公開の場で見つかりました',
        title: 'アクセスキーを無効にしました',
        body: '{appName} のアカウントのアクセスキーが公開の場で見つかったため、無効にしました。必要な場合は新しいキーを作成し、秘密に保管してください。',
      },
      accessKeyNewNetwork: {
        subject: '{appName} アカウントのアクセスキーが新しいネットワークから使われました',
        title: 'アクセスキーが新しいネットワークから使われました',
        body: '{appName} のアカウントのアクセスキーが、これまで使われたことのないネットワークから使われました。お心当たりがない場合は、キーを無効にしてください。',
      },
    },
  },
};
