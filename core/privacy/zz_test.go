package privacy
import ("testing";"fmt")
func TestZZ(t *testing.T){
 for _,c:=range []struct{n,eps float64}{{60000,1.0379},{50000,.9580}} {
 q:=128/c.n
 b:=Budget{Epsilon:c.eps,Delta:1e-5}
 for _,a:=range Names(){ b.Accountant=a; n,err:=b.Steps(q,1); fmt.Println(c,a,n,float64(n)*q,err)}
 for ep:=1;ep<=40;ep++{
  T:=int(float64(ep)*c.n/128)
  T2:=ep*int((c.n+127)/128)
  s,_:=flatten(PoissonSampled{q,Gaussian{1}},T)
  s2,_:=flatten(PoissonSampled{1/float64(int((c.n+127)/128)),Gaussian{1}},T2)
  rho:=s.rdp(); classic:=1e9
  for i,r:=range rho { classic=min(classic, r+11.512925/(orders[i]-1)) }
  p,_:=s.pld(1e-5)
  fmt.Printf("%v ep %d T %d: pld %.4f rdp %.4f classic %.4f gdp %.4f | loader rdp %.4f\n",c.n,ep,T,p,rho.epsilon(1e-5),classic,s.gdp(1e-5),s2.rdp().epsilon(1e-5))
 }}
}
