//! Clients of stores: addresses, credentials, the rule for redirects.

use object_store::client::{HttpClient, HttpConnector};
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, ObjectStoreScheme};
use reqwest::redirect::Policy;
use std::sync::Arc;
use std::time::Duration;
use url::{Position, Url};

/// Time in which a host must answer a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Time in which the next bytes of an answer must come.
const READ: Duration = Duration::from_secs(30);
/// Schemes of addresses.
const SCHEMES: [&str; 5] = ["s3", "gs", "az", "https", "http"];
/// Most redirects of a request.
const REDIRECTS: usize = 5;

/// A store, and the place of an object in it.
pub(crate) struct Located {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) path: Path,
}

/// Returns the store of an address, with the credentials of the environment.
///
/// # Errors
/// Returns an error if the address is wrong or lacks credentials.
pub(crate) fn located(address: &str) -> Result<Located, object_store::Error> {
    let generic = |source| object_store::Error::Generic { store: "address", source };
    let url = Url::parse(address).map_err(|error| generic(error.into()))?;
    if url.query().is_some() || url.fragment().is_some() {
        let text = "addresses with ? or # are not supported: download the trace, or pipe it in";
        return Err(generic(text.into()));
    }
    if !SCHEMES.contains(&url.scheme()) {
        return Err(generic(format!("addresses begin with {}", SCHEMES.join(", ")).into()));
    }
    let (scheme, path) = ObjectStoreScheme::parse(&url)?;
    let path = Path::parse(path)?;
    macro_rules! store {
        ($builder:path, $url:expr) => {{
            let start = <$builder>::new().with_url($url).with_http_connector(Connector);
            let build = std::env::vars().fold(start, |builder, (name, value)| {
                match name.to_ascii_lowercase().parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                }
            });
            Arc::new(build.build()?) as Arc<dyn ObjectStore>
        }};
    }
    let store = match scheme {
        ObjectStoreScheme::AmazonS3 => store!(object_store::aws::AmazonS3Builder, address),
        ObjectStoreScheme::GoogleCloudStorage => {
            store!(object_store::gcp::GoogleCloudStorageBuilder, address)
        }
        ObjectStoreScheme::MicrosoftAzure => {
            store!(object_store::azure::MicrosoftAzureBuilder, address)
        }
        ObjectStoreScheme::Http => {
            let host = &url[..Position::BeforePath];
            let options = ClientOptions::new().with_allow_http(true);
            let builder = object_store::http::HttpBuilder::new().with_url(host);
            let builder = builder.with_client_options(options).with_http_connector(Connector);
            Arc::new(builder.build()?)
        }
        _ => return Err(generic("there is no store for this address".into())),
    };
    Ok(Located { store, path })
}

/// Creates HTTP clients that follow redirects only within a host.
#[derive(Debug)]
struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> Result<HttpClient, object_store::Error> {
        let within = Policy::custom(|attempt| {
            let first = attempt.previous().first().map(|url| (url.host_str(), url.port()));
            let is_same = first == Some((attempt.url().host_str(), attempt.url().port()));
            match is_same && attempt.previous().len() <= REDIRECTS {
                true => attempt.follow(),
                false => attempt.error("it redirects to another host, which must be named"),
            }
        });
        let client = reqwest::Client::builder()
            .redirect(within)
            .connect_timeout(CONNECT)
            .read_timeout(READ)
            .user_agent(concat!("tracemill/", env!("CARGO_PKG_VERSION")))
            .build();
        let failed = |source| object_store::Error::Generic { store: "HTTP", source };
        client.map(HttpClient::new).map_err(|error| failed(Box::new(error)))
    }
}
