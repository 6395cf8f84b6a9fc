use tracemill_tokenizer::*;
struct C(u64,i64,u64);
impl Sink for C {
 #[inline(always)] fn event(&mut self, e:&Event<'_>){ self.0+=1; if !e.is_metadata() { if let Some(t)=e.ts(){self.1^=t.floor;} if let Some(t)=e.dur(){self.2^=t.floor as u64;} } }
 fn document(&mut self,_:Form){} fn member(&mut self,_:Member<'_>){} fn damage(&mut self,d:Damage<'_>){eprintln!("{} {}",d.offset,d.lost.len())} fn note(&mut self,_:Note,_:u64){}
}
fn main(){ let b=std::fs::read(std::env::args().nth(1).unwrap()).unwrap();
 for tier in Tier::ALL { if !tier.is_available(){continue}
 let mut best=f64::MAX; let mut n=0; for _ in 0..5 { let t=std::time::Instant::now(); let mut c=C(0,0,0); Scanner::new(tier).feed(Window::whole(&b),Stop::NEVER,&mut c); let d=t.elapsed().as_secs_f64(); if d<best{best=d} n=c.0; std::hint::black_box(&c.1);}
 println!("{tier}: {n} events {:.2} GB/s", b.len() as f64/best/1e9);}
}
